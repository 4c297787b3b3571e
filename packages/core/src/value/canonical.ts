import { createHash } from 'node:crypto';
import { AppError } from '../errors.ts';
import { base32 } from './base32.ts';

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

// Surrogates (code points above U+FFFF) sort behind U+E000–U+FFFF in UTF-8, before them in UTF-16.
const rank = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Orders strings as their UTF-8 bytes sort, which is how every list of ours and every Go map is sorted. */
export const compareUtf8 = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
};

const notJson = (value: unknown): AppError =>
  new AppError('INTERNAL', 'only JSON values have a canonical form', { facts: { type: typeof value } });

/** The members of an object in canonical order; absent (`undefined`) ones are left out, as `JSON.stringify` does. */
export const sortedEntries = (value: object): [string, unknown][] => {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw notJson(value);
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value).sort(compareUtf8)) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) entries.push([key, member]);
  }
  return entries;
};

/**
 * One text per JSON value: members sorted by the UTF-8 bytes of their names, no blanks, numbers as JavaScript prints them.
 * Absent members (`undefined`) are left out. Errors: `INTERNAL` for what JSON cannot say (NaN, functions, dates, …).
 */
export const canonicalJson = (value: unknown): string => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw notJson(value);
  return `{${sortedEntries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
    .join(',')}}`;
};

/** A short digest of a JSON value, independent of the order of members: 130 bits of SHA-256, 26 characters of `[a-z2-7]`. */
export const digest = (value: unknown): string =>
  base32(createHash('sha256').update(canonicalJson(value)).digest()).slice(0, 26);
