import type { ScalarEvent, SequenceEvent } from 'js-yaml';
import { type AliasEvent, COLLECTION_STYLE, EVENT_ID, type MappingEvent, SCALAR_STYLE } from 'js-yaml';

/** Where a value stands: it decides what to point at when nothing is written there. */
export type Slot = 'document' | 'item' | 'key' | 'value';

/** What may stand between two values, except the `-` of an item and of `---`. */
const fillers = [/[\s,:?\]}]+/y, /(?<=^|\s)#[^\r\n]*/y, /^\.\.\./my, /^%[^\r\n]*/my];

/**
 * Finds the offset where each value starts, also where the parser does not tell: opening quotes, block headers, the dash
 * of an empty item, the key of an empty value, the `---` of an empty document. Events must come in the order of the text.
 */
export const createYamlCursor = (text: string) => {
  let start = 0;
  let end = 0;

  const skipFillers = (): number => {
    let at = end;
    for (let isMoving = true; isMoving; ) {
      isMoving = false;
      for (const filler of fillers) {
        filler.lastIndex = at;
        const length = filler.exec(text)?.[0].length ?? 0;
        at += length;
        isMoving ||= length > 0;
      }
    }
    return at;
  };

  const empty = (event: ScalarEvent, slot: Slot): void => {
    if (event.tagStart !== -1) {
      start = event.tagStart;
      end = event.tagEnd;
    } else if (slot === 'item' || slot === 'document') {
      start = skipFillers();
      end = start + (slot === 'document' ? 3 : 1);
    }
  };

  const scalar = (event: ScalarEvent): void => {
    const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
    const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
    if (isBlock) {
      const header = event.style === SCALAR_STYLE.LITERAL_BLOCK ? '|' : '>';
      start = text.indexOf(header, Math.max(end, event.tagEnd, event.anchorEnd));
    } else start = event.valueStart - (isQuoted ? 1 : 0);
    end = event.valueEnd + (isQuoted ? 1 : 0);
  };

  return {
    startOf: (event: ScalarEvent | AliasEvent | SequenceEvent | MappingEvent, slot: Slot): number => {
      if (event.type === EVENT_ID.ALIAS) {
        start = event.anchorStart - 1;
        end = event.anchorEnd;
      } else if (event.type !== EVENT_ID.SCALAR) {
        start = event.start;
        end = event.start + (event.style === COLLECTION_STYLE.FLOW ? 1 : 0);
      } else if (event.valueStart === -1) empty(event, slot);
      else scalar(event);
      return start;
    },
  };
};
