import { type Event, parseEvents, YAMLException } from 'js-yaml';
import { depthFlaw, type Flaw, type Parsed } from './flaw.ts';
import type { Limits } from './limits.ts';
import { composeYaml } from './yaml-compose.ts';
import { yamlHint } from './yaml-hint.ts';

/** The parser recurses, so nothing may nest deeper than this, whatever the limits say. */
const maxParserDepth = 1_000;

const syntaxFlaw = (text: string, thrown: unknown, limits: Limits): Flaw => {
  if (!(thrown instanceof YAMLException)) return { offset: 0, message: `not YAML: ${String(thrown)}` };
  const offset = thrown.mark?.position ?? 0;
  // The parser has no codes; its words are all there is to tell this limit from a syntax error.
  if (thrown.reason.startsWith('nesting exceeded')) return depthFlaw(offset, limits.depth);
  return { offset, message: `not YAML: ${thrown.reason} (${yamlHint(text, offset)})` };
};

/** Reads YAML 1.1 documents with the offset of every key and value. A syntax error ends it; other flaws are all listed. */
export const parseYaml = (text: string, limits: Limits): Parsed => {
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: maxParserDepth });
  } catch (thrown) {
    return { roots: [], flaws: [syntaxFlaw(text, thrown, limits)] };
  }
  return composeYaml(text, events, limits);
};
