// Edit distance with swapped neighbours counted as one edit (optimal string alignment).
const distance = (left: string, right: string): number => {
  let older: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        best = Math.min(best, (older[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    older = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
};

/**
 * The known name that was probably meant: the nearest by edit distance, ignoring case, if at most a third of the letters
 * (one at least) differ; of equally near ones the first. `undefined` if none is near.
 */
export const suggest = (name: string, known: Iterable<string>): string | undefined => {
  let limit = Math.max(1, Math.floor(name.length / 3));
  let nearest: string | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= limit) {
      nearest = candidate;
      limit = edits - 1;
    }
  }
  return nearest;
};
