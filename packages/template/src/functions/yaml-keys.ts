const isDigit = (char: string | undefined): boolean => char !== undefined && /^[0-9]$/.test(char);

const isLetter = (char: string): boolean => /^\p{L}$/u.test(char);

/** The number that the digits from `at` on make; NaN where there are none. */
const numberAt = (chars: readonly string[], at: number): number => {
  let end = at;
  while (isDigit(chars[end])) {
    end++;
  }
  return end === at ? Number.NaN : Number(chars.slice(at, end).join(''));
};

/** Two keys that first differ at `at`. */
const compareAt = (left: readonly string[], right: readonly string[], at: number): number => {
  let start = at;
  while (start > 0 && isDigit(left[start - 1])) {
    start--;
  }
  const [a, b] = [numberAt(left, start), numberAt(right, start)];
  if (!Number.isNaN(a) && !Number.isNaN(b) && a !== b) {
    return a - b;
  }
  const [x = '', y = ''] = [left[at], right[at]];
  if (isLetter(x) !== isLetter(y)) {
    return isLetter(x) ? 1 : -1;
  }
  return x < y ? -1 : 1;
};

/** The order in which go-yaml writes keys: numbers by their value, letters behind everything else. */
export const compareKeys = (a: string, b: string): number => {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) {
      return compareAt(left, right, i);
    }
  }
  return left.length - right.length;
};
