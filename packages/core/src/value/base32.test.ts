import { expect, it } from 'vitest';
import { base32 } from './base32.ts';

it.each([
  ['', ''],
  ['f', 'my'],
  ['fo', 'mzxq'],
  ['foo', 'mzxw6'],
  ['foob', 'mzxw6yq'],
  ['fooba', 'mzxw6ytb'],
  ['foobar', 'mzxw6ytboi'],
])('base32 of %j (RFC 4648 §10, lower case, unpadded)', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

it('keeps the high bits of every byte', () => {
  expect(base32(Uint8Array.of(255, 255, 255, 255, 255, 0))).toBe('77777777aa');
});
