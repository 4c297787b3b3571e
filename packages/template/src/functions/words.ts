import type { Budget } from '../budget.ts';
import { byteLength, byteSlice, fromBytes, toBytes } from '../text/bytes.ts';
import {
  isDigit,
  isLetter,
  isLower,
  isSpace,
  isTitle,
  isUpper,
  lowerRune,
  titleRune,
  upperRune,
} from '../text/unicode.ts';

const isSeparator = (char: string): boolean => {
  if (char <= '\x7f') {
    return !/[A-Za-z0-9_]/.test(char);
  }
  return !isLetter(char) && !isDigit(char) && isSpace(char);
};

/** `strings.Title`: the first letter of each word becomes a capital. */
export const title = (text: string): string => {
  let previous = ' ';
  return Array.from(text, (char) => {
    const shown = isSeparator(previous) ? titleRune(char) : char;
    previous = char;
    return shown;
  }).join('');
};

/** The first letter of each word becomes small. */
export const untitle = (text: string): string => {
  let isStart = true;
  return Array.from(text, (char) => {
    const shown = isStart && !isSpace(char) ? lowerRune(char) : char;
    isStart = isSpace(char);
    return shown;
  }).join('');
};

/** Capitals become small and small letters capitals, title case at the start of a word. */
export const swapCase = (text: string): string => {
  let isStart = true;
  return Array.from(text, (char) => {
    const wasStart = isStart;
    if (isUpper(char) || isTitle(char)) {
      isStart = false;
      return lowerRune(char);
    }
    if (isLower(char)) {
      isStart = false;
      return wasStart ? titleRune(char) : upperRune(char);
    }
    isStart = isSpace(char);
    return char;
  }).join('');
};

/** A byte taken for a character, as sprig's helpers for words do. */
const byteChars = (text: string): string[] => Array.from(toBytes(text), (byte) => String.fromCharCode(byte));

/** The first letter of each word. */
export const initials = (text: string): string => {
  let wasGap = true;
  return byteChars(text)
    .filter((char) => {
      const isGap = isSpace(char);
      const isFirst = !isGap && wasGap;
      wasGap = isGap;
      return isFirst;
    })
    .join('');
};

/** All white space is taken out. A text that has none stays as it is; of others sprig spoils letters beyond ASCII. */
export const deleteWhiteSpace = (text: string): string => {
  const chars = byteChars(text);
  const kept = chars.filter((char) => !isSpace(char));
  return kept.length === chars.length ? text : kept.join('');
};

/** Shortens to `width` bytes with dots in place of what is left out; `offset` is where the visible part begins. */
export const abbreviate = (text: string, offset: number, width: number): string => {
  const length = byteLength(text);
  if (text === '' || width < 4 || length <= width) {
    return width < 4 ? '' : text;
  }
  const shown = width - 3;
  let from = Math.min(offset, length);
  from = length - from < shown ? length - shown : from;
  if (from <= 4) {
    return `${byteSlice(text, 0, shown)}...`;
  }
  if (width < 7) {
    return '';
  }
  return from + shown < length
    ? `...${abbreviate(byteSlice(text, from, length), 0, shown)}`
    : `...${byteSlice(text, length - shown, length)}`;
};

const BLANK = 0x20;

/** Breaks a line at blanks so that it fits `width` bytes; words that are longer are broken when `breaksWords`. */
export const wrap = (budget: Budget, text: string, width: number, separator: string, breaksWords: boolean): string => {
  const bytes = toBytes(text);
  const size = Math.max(1, width);
  const lines: string[] = [];
  let at = 0;
  const cut = (to: number, next: number): void => {
    budget.step();
    budget.characters(separator.length + to - at);
    lines.push(fromBytes(bytes.subarray(at, to)));
    at = next;
  };
  while (bytes.length - at > size) {
    if (bytes[at] === BLANK) {
      at++;
      continue;
    }
    const blank = bytes.subarray(at, at + size + 1).lastIndexOf(BLANK) + at;
    if (blank >= at) {
      cut(blank, blank + 1);
    } else if (breaksWords) {
      cut(at + size, at + size);
    } else {
      const next = bytes.indexOf(BLANK, at + size);
      if (next < 0) {
        break;
      }
      cut(next, next + 1);
    }
  }
  return [...lines, fromBytes(bytes.subarray(at))].join(separator);
};
