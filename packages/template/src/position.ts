import { byteLength } from './text/bytes.ts';

/** A place in a text: `line` from 1, `column` from 0 in bytes of UTF-8, `offset` in UTF-16 units from the beginning. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

/** The line and column of an offset. */
export const positionOf = (text: string, offset: number): Position => {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  let line = 1;
  for (let i = text.indexOf('\n'); i >= 0 && i < offset; i = text.indexOf('\n', i + 1)) {
    line++;
  }
  return { line, column: byteLength(text.slice(start, offset)), offset };
};
