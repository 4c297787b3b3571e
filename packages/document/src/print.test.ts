import { expect, test } from 'vitest';
import { toJson, toYaml } from './print.ts';

const value = { b: [{ z: 1, a: 'yes' }], a: undefined, '10': null, text: 'one\ntwo\n', at: new Date(0) };

test('JSON has an indent of 2 and ends its line; keys stay in their order unless sorted', () => {
  expect(toJson({ b: 1, a: [1] })).toBe('{\n  "b": 1,\n  "a": [\n    1\n  ]\n}\n');
  expect(toJson({ b: { d: 1, c: 2 }, a: [{ f: 1, e: 2 }] }, { sortKeys: true })).toBe(
    toJson({ a: [{ e: 2, f: 1 }], b: { c: 2, d: 1 } }),
  );
});

test('YAML is in blocks, quotes what another YAML would read otherwise, and never has aliases', () => {
  expect(toYaml(value)).toBe(
    "'10': null\nb:\n  - z: 1\n    a: 'yes'\ntext: |\n  one\n  two\nat: '1970-01-01T00:00:00.000Z'\n",
  );
  const shared = { x: 1 };
  expect(toYaml([shared, shared], { sortKeys: true })).toBe('- x: 1\n- x: 1\n');
  expect(toYaml(undefined)).toBe('null\n');
});
