const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/;

/** `unicode.IsLetter` of a character. */
export const isLetter = (char: string): boolean => LETTER.test(char);

/** `unicode.IsDigit` of a character. */
export const isDigit = (char: string): boolean => DIGIT.test(char);

/** `unicode.IsSpace` of a character. */
export const isSpace = (char: string): boolean => SPACE.test(char);

/** `unicode.IsPrint` of a character; of all blanks only U+0020 counts. */
export const isPrint = (char: string): boolean => PRINTABLE.test(char);

export const isUpper = (char: string): boolean => /^\p{Lu}$/u.test(char);

export const isLower = (char: string): boolean => /^\p{Ll}$/u.test(char);

export const isTitle = (char: string): boolean => /^\p{Lt}$/u.test(char);

const single = (mapped: string, char: string): string => (Array.from(mapped).length === 1 ? mapped : char);

/** Greek letters with an iota below whose capital is one character, which JavaScript writes as two. */
const greekCapital = (char: string): string | undefined => {
  const code = char.codePointAt(0) ?? 0;
  if (code >= 0x1f80 && code <= 0x1faf && (code & 8) === 0) {
    return String.fromCodePoint(code + 8);
  }
  return code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3 ? String.fromCodePoint(code + 9) : undefined;
};

/** `unicode.ToUpper`: one character in, one out (`ß` stays). */
export const upperRune = (char: string): string => greekCapital(char) ?? single(char.toUpperCase(), char);

/** `unicode.ToLower`: one character in, one out, whatever stands around it. */
export const lowerRune = (char: string): string => (char === '\u0130' ? 'i' : single(char.toLowerCase(), char));

const DIGRAPHS: readonly (readonly [string, string])[] = [
  ['\u01c4\u01c5\u01c6', '\u01c5'],
  ['\u01c7\u01c8\u01c9', '\u01c8'],
  ['\u01ca\u01cb\u01cc', '\u01cb'],
  ['\u01f1\u01f2\u01f3', '\u01f2'],
];

/** Georgian has capitals, but no word begins with one. */
const isGeorgian = (char: string): boolean => char >= '\u10d0' && char <= '\u10ff';

/** `unicode.ToTitle`. */
export const titleRune = (char: string): string =>
  isGeorgian(char) ? char : (DIGRAPHS.find(([set]) => set.includes(char))?.[1] ?? upperRune(char));

const ASCII = /^[\0-\x7f]*$/;

/** `strings.ToUpper`. */
export const toUpper = (text: string): string =>
  ASCII.test(text) ? text.toUpperCase() : Array.from(text, upperRune).join('');

/** `strings.ToLower`. */
export const toLower = (text: string): string =>
  ASCII.test(text) ? text.toLowerCase() : Array.from(text, lowerRune).join('');

/** `strings.TrimSpace`. */
export const trimSpace = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charAt(from))) {
    from++;
  }
  while (to > from && isSpace(text.charAt(to - 1))) {
    to--;
  }
  return text.slice(from, to);
};
