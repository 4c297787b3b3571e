import { createHash } from 'node:crypto';
import { type FunctionTable, fn } from '../signature.ts';
import { fromBytes, toBytes } from '../text/bytes.ts';
import { type Decoded, decodeBase32, decodeBase64 } from './base-decoding.ts';
import { encodeBase } from './base-encoding.ts';

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

/** sprig returns the sentence about what is wrong in place of the text. */
const shown = (decoded: Decoded): string => (typeof decoded === 'string' ? decoded : fromBytes(decoded));

/** sprig's encodings and sums. */
export const ENCODING_FUNCTIONS: FunctionTable = {
  b64enc: fn(['string'], (_run, text) => encodeBase(6, toBytes(text))),
  b64dec: fn(['string'], (_run, text) => shown(decodeBase64(toBytes(text)))),
  b32enc: fn(['string'], (_run, text) => encodeBase(5, toBytes(text))),
  b32dec: fn(['string'], (_run, text) => shown(decodeBase32(toBytes(text)))),
  sha1sum: fn(['string'], (_run, text) => digest('sha1', text)),
  sha256sum: fn(['string'], (_run, text) => digest('sha256', text)),
  adler32sum: fn(['string'], (_run, text) => String(adler32(toBytes(text)))),
};
