import { createHash } from 'node:crypto';
import { type FunctionTable, fn } from '../signature.ts';
import { fromBytes, toBytes } from '../text/bytes.ts';
import { decodeBase, encodeBase } from './base-encoding.ts';

const digest = (algorithm: string, text: string): string => createHash(algorithm).update(toBytes(text)).digest('hex');

const adler32 = (bytes: Uint8Array): number => {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
};

/** What a text decodes to, or the sentence about what is wrong with it: sprig returns that too. */
const decoded = (bits: 5 | 6, text: string): string => {
  const result = decodeBase(bits, text);
  return typeof result === 'string' ? result : fromBytes(result);
};

/** sprig's encodings and sums. */
export const ENCODING_FUNCTIONS: FunctionTable = {
  b64enc: fn(['string'], (_run, text) => encodeBase(6, toBytes(text))),
  b64dec: fn(['string'], (_run, text) => decoded(6, text)),
  b32enc: fn(['string'], (_run, text) => encodeBase(5, toBytes(text))),
  b32dec: fn(['string'], (_run, text) => decoded(5, text)),
  sha1sum: fn(['string'], (_run, text) => digest('sha1', text)),
  sha256sum: fn(['string'], (_run, text) => digest('sha256', text)),
  adler32sum: fn(['string'], (_run, text) => String(adler32(toBytes(text)))),
};
