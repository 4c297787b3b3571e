import { expect, it } from 'vitest';
import { goString } from './go-json.ts';

it.each([
  ['plain', '"plain"'],
  ['a < b && c > d', '"a \\u003c b \\u0026\\u0026 c \\u003e d"'],
  ['"\\/', '"\\"\\\\/"'],
  ['\n\r\t', '"\\n\\r\\t"'],
  ['\b\f\0\u001f', '"\\u0008\\u000c\\u0000\\u001f"'],
  ['\u2028\u2029', '"\\u2028\\u2029"'],
  ['é🦊\u007f', '"é🦊\u007f"'],
])('%j as Go writes it (GP §1.3)', (text, encoded) => {
  expect(goString(text)).toBe(encoded);
  expect(JSON.parse(goString(text))).toBe(text);
});
