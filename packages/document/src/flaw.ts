import type { Located } from './located.ts';

/** Something that makes a text unreadable, at an offset of the rendered text. */
export interface Flaw {
  readonly offset: number;
  readonly message: string;
  /** A limit was passed, the text itself may be well formed. */
  readonly isLimit?: boolean;
  /** The offset of what this one repeats. */
  readonly first?: number;
}

/** What a parser makes of a text: a root for each document; with any flaw the roots are not to be used. */
export interface Parsed {
  readonly roots: readonly Located[];
  readonly flaws: readonly Flaw[];
}

export const depthFlaw = (offset: number, limit: number): Flaw => ({
  offset,
  message: `more than ${limit} lists and maps inside each other: flatten it`,
  isLimit: true,
});

export const duplicateFlaw = (key: string, offset: number, first: number): Flaw => ({
  offset,
  message: `duplicate key \`${key}\`: keep one`,
  first,
});

/** `__proto__` would be lost or harmful in any object that is filled key by key. */
export const protoFlaw = (offset: number): Flaw => ({
  offset,
  message: 'the key `__proto__` is not allowed: rename it',
});

export const inexactFlaw = (text: string, offset: number): Flaw => ({
  offset,
  message: `the number ${text} would lose digits: quote it, or use a smaller one`,
});

/** Whether a number survives reading and printing: `Infinity` and integers that a double cannot hold do not. */
export const isExact = (text: string, value: number): boolean => {
  if (!Number.isFinite(value)) return false;
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return true;
  if (!/^[-+]?[1-9]\d*$/.test(text)) return /[.eE]/.test(text);
  const digits = text.replace('+', '');
  return String(value) === digits || BigInt(value) === BigInt(digits);
};
