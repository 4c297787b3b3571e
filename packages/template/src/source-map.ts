import type { Source } from './nodes.ts';
import { type Position, positionOf } from './position.ts';

/** The rendered text from offset `rendered` on comes from offset `source` of `sourceText`. */
export interface Segment {
  readonly rendered: number;
  readonly source: number;
  readonly sourceText: Source;
  /** Plain text maps character by character; what an action printed maps to the action. */
  readonly isText: boolean;
}

/** From the rendered text back to the template. */
export interface SourceMap {
  /**
   * The place in the template that the rendered character at `offset` (UTF-16 units) comes from: for text the same
   * character, for the output of an action the action's beginning. Offsets beyond the end give the place after the last one.
   */
  locate(offset: number): Position;
}

const indexBefore = (segments: readonly Segment[], offset: number): number => {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((segments[middle]?.rendered ?? 0) <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
};

export const sourceMap = (source: Source, segments: readonly Segment[]): SourceMap => ({
  locate(offset) {
    const segment = segments[indexBefore(segments, offset)];
    if (segment === undefined) {
      return positionOf(source.text, 0);
    }
    const { text } = segment.sourceText;
    const shift = segment.isText ? offset - segment.rendered : 0;
    return positionOf(text, Math.min(text.length, segment.source + shift));
  },
});
