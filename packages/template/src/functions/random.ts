import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { int } from '../value/value.ts';
import { encodeBase } from './base-encoding.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');

const bytes = (run: Run, size: number): Uint8Array => {
  run.budget.characters(size);
  return run.host.random === undefined ? failCall('there is no source of random numbers here') : run.host.random(size);
};

/** A whole number below `limit`, each equally likely. */
const below = (run: Run, limit: number): number => {
  const range = Math.floor(2 ** 32 / limit) * limit;
  for (;;) {
    run.budget.step();
    const [a = 0, b = 0, c = 0, d = 0] = bytes(run, 4);
    const drawn = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
    if (drawn < range) {
      return drawn % limit;
    }
  }
};

const draw = (run: Run, count: number, alphabet: string): string => {
  run.budget.step(Math.max(0, count));
  let out = '';
  for (let i = 0; i < count; i++) {
    out += alphabet.charAt(below(run, alphabet.length));
  }
  return out;
};

const hex = (values: Uint8Array): string => Array.from(values, (byte) => byte.toString(16).padStart(2, '0')).join('');

const uuid = (run: Run): string => {
  const drawn = Uint8Array.from(bytes(run, 16));
  drawn[6] = ((drawn[6] ?? 0) & 0x0f) | 0x40;
  drawn[8] = ((drawn[8] ?? 0) & 0x3f) | 0x80;
  return hex(drawn).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

const shuffle = (run: Run, text: string): string => {
  const chars = Array.from(text);
  for (let i = chars.length - 1; i > 0; i--) {
    const j = below(run, i + 1);
    [chars[i], chars[j]] = [chars[j] ?? '', chars[i] ?? ''];
  }
  return chars.join('');
};

const randInt = fn(['int', 'int'], (run, min, max) =>
  max <= min ? failCall('invalid argument to Intn') : int(min + below(run, Math.min(max - min, 2 ** 32))),
);

/** sprig's random functions, fed by the host. */
export const RANDOM_FUNCTIONS: FunctionTable = {
  randAlphaNum: fn(['int'], (run, count) => draw(run, count, LETTERS + DIGITS)),
  randAlpha: fn(['int'], (run, count) => draw(run, count, LETTERS)),
  randAscii: fn(['int'], (run, count) => draw(run, count, PRINTABLE)),
  randNumeric: fn(['int'], (run, count) => draw(run, count, DIGITS)),
  randBytes: fn(['int'], (run, count) => encodeBase(6, bytes(run, Math.max(0, count)))),
  randInt,
  uuidv4: fn([], uuid),
  shuffle: fn(['string'], shuffle),
};
