import { expect, test } from 'vitest';
import { isExact } from './flaw.ts';

test.each([
  ['0', true],
  ['-9007199254740991', true],
  ['9007199254740993', false],
  ['9007199254740992', true],
  ['12345678901234567890', false],
  ['+12345678901234567890', false],
  [String(1.2345678901234567e20), true],
  ['1e21', true],
  ['1e999', false],
  ['0.1234567890123456789', true],
])('the number %s survives reading and printing: %s', (text, survives) => {
  expect(isExact(text, Number(text))).toBe(survives);
});

test('an integer of another base that a double cannot hold does not survive', () => {
  expect(isExact('0x20000000000001', Number('0x20000000000001'))).toBe(false);
  expect(isExact('0x1f', 0x1f)).toBe(true);
});
