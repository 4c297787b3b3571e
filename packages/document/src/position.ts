/** A place in a text: 1-based line, 1-based column in UTF-16 units; a byte order mark has no column. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** From an offset into a text to its place; LF, CRLF and a lone CR each end a line. Offsets past the end give the end. */
export const createPositions = (text: string): ((offset: number) => Position) => {
  const starts = [0];
  for (const lineBreak of text.matchAll(/\r\n|\r|\n/g)) starts.push(lineBreak.index + lineBreak[0].length);
  return (offset) => {
    const within = Math.max(0, Math.min(offset, text.length));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= within) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: within - (starts[low] ?? 0) + 1 };
  };
};
