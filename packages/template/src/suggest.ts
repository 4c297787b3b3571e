/** Levenshtein distance with transpositions, cut off at `limit`. */
const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) {
    return limit + 1;
  }
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const cheapest = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      next.push(isSwap ? Math.min(cheapest, (before[j - 2] ?? 0) + 1) : cheapest);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
};

/** The known name nearest to a misspelt one, if one is near enough to be meant. */
const suggest = (name: string, known: Iterable<string>): string | undefined => {
  const limit = name.length <= 3 ? 1 : name.length <= 8 ? 2 : 3;
  const wanted = name.slice(0, 64).toLowerCase();
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const far = distance(wanted, candidate.toLowerCase(), limit);
    if (far < bestDistance || (far === bestDistance && best !== undefined && candidate < best)) {
      best = candidate;
      bestDistance = far;
    }
  }
  return best;
};

/** ` (did you mean "upper"?)`, or nothing. */
export const didYouMean = (name: string, known: Iterable<string>): string => {
  const found = suggest(name, known);
  return found === undefined ? '' : ` (did you mean "${found}"?)`;
};
