import { expect, test } from 'vitest';
import { resolvePlain, resolveTagged } from './yaml-scalar.ts';

test.each([
  ['yes', true],
  ['On', true],
  ['y', true],
  ['off', false],
  ['NO', false],
  ['', null],
  ['~', null],
  ['Null', null],
  ['10', 10],
  ['-1_000', -1000],
  ['0x1F', 31],
  ['010', 8],
  ['08', '08'],
  ['1:30', 90],
  ['1.5', 1.5],
  ['1e5', '1e5'],
  ['10s', '10s'],
  ['2001-12-14', '2001-12-14'],
  ['yesterday', 'yesterday'],
  ['-', '-'],
])('the YAML 1.1 scalar %j is %j (EI §0.1); a date stays text', (text, value) => {
  expect(resolvePlain(text)).toBe(value);
});

test.each([
  ['!!str', 'yes', { value: 'yes' }],
  ['!', '5', { value: '5' }],
  ['!!int', '5', { value: 5 }],
  ['!!float', '5', { value: 5 }],
  ['!!bool', 'on', { value: true }],
  ['!!null', '', { value: null }],
  ['!<tag:yaml.org,2002:int>', '7', { value: 7 }],
])('%s %s is %j', (tag, text, resolved) => {
  expect(resolveTagged(tag, text)).toEqual(resolved);
});

test.each([
  ['!!timestamp', '2001-12-14'],
  ['!!binary', 'aGk='],
  ['!mine', 'x'],
  ['!!int', 'five'],
  ['!!bool', '1'],
])('%s %s is refused: a spec holds JSON values only (GP "Blob")', (tag, text) => {
  expect(resolveTagged(tag, text)).toEqual({ reason: expect.stringContaining(tag) });
});
