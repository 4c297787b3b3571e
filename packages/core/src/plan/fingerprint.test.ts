import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Spec } from '../object/spec.ts';
import { diffSpecs, fingerprint, specKey } from './fingerprint.ts';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const named = (name: string, more: Partial<Spec> = {}): Spec => ({ kind: 'group', metadata: { name }, ...more });

describe('fingerprint (GP §0.3, EI §0.3)', () => {
  it.each([
    [named('a'), '{"kind":"group","version":"","metadata":{"name":"a","tags":null},"properties":null}'],
    [
      named('a', {
        version: 'Group/0.1.1',
        metadata: { id: 'x', name: 'a', tags: { b: '2', a: '<' } },
        template: 'http://h/t',
        properties: { z: 1, a: ['x y', '\t'] },
        options: { o: true },
        depends: [{ kind: 'resource', name: 'vpc' }],
      }),
      '{"kind":"group","version":"Group/0.1.1","metadata":{"id":"x","name":"a","tags":{"a":"\\u003c","b":"2"}},' +
        '"template":"http://h/t","properties":{"z":1,"a":["x y","\\t"]},"options":{"o":true},' +
        '"depends":[{"kind":"resource","name":"vpc"}]}',
    ],
  ])('is the MD5 of the old JSON text: %#', (spec, text) => {
    expect(fingerprint(spec)).toBe(md5(text));
  });

  it('keeps the old weakness where stored values must match: the blank after : is deleted in strings too (EI-T5)', () => {
    expect(fingerprint(named('a', { properties: 'a: b' }))).toBe(fingerprint(named('a', { properties: 'a:b' })));
  });
});

describe('difference of two spec lists (GP §0.3)', () => {
  it('gives ADD, REMOVE and CHANGE, each sorted by kind, version, name', () => {
    const before = [named('gone2'), named('same'), named('changed', { properties: { a: 1 } }), named('gone1')];
    const after = [
      named('new', { kind: 'pool' }),
      named('changed', { properties: { a: 2 } }),
      named('same'),
      named('new'),
    ];
    expect(diffSpecs(before, after)).toEqual({
      add: [named('new'), named('new', { kind: 'pool' })],
      remove: [named('gone1'), named('gone2')],
      change: [{ from: named('changed', { properties: { a: 1 } }), to: named('changed', { properties: { a: 2 } }) }],
    });
  });

  it.each([
    ['kind', named('a', { kind: 'pool' })],
    ['version', named('a', { version: '1' })],
    ['name', named('b')],
    ['id', named('a', { metadata: { name: 'a', id: 'i' } })],
  ])('another %s is another item', (_, other) => {
    expect(specKey(other)).not.toBe(specKey(named('a')));
    expect(diffSpecs([named('a')], [other])).toEqual({ add: [other], remove: [named('a')], change: [] });
  });

  it('tells apart what the old text form confused, and not what it told apart by key order (EI-T5)', () => {
    const spaced = named('a', { properties: { x: 'a: b', y: 1 } });
    expect(diffSpecs([spaced], [named('a', { properties: { x: 'a:b', y: 1 } })]).change).toHaveLength(1);
    expect(diffSpecs([spaced], [named('a', { properties: { y: 1, x: 'a: b' } })]).change).toEqual([]);
  });

  it('applied to the first list gives the second, whatever the order', () => {
    const specs = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom('group', 'pool'),
        metadata: fc.record({ name: fc.constantFrom('a', 'b', 'c') }),
        properties: fc.nat(2),
      }),
      { selector: specKey },
    );
    fc.assert(
      fc.property(specs, specs, (before, after) => {
        const { add, remove, change } = diffSpecs(before, after);
        const result = new Map<string, Spec>(before.map((spec) => [specKey(spec), spec]));
        for (const spec of remove) expect(result.delete(specKey(spec))).toBe(true);
        for (const { from, to } of change) {
          expect(result.get(specKey(from))).toEqual(from);
          result.set(specKey(to), to);
        }
        for (const spec of add) {
          expect(result.has(specKey(spec))).toBe(false);
          result.set(specKey(spec), spec);
        }
        expect(new Set(result.values())).toEqual(new Set(after));
        expect(diffSpecs([...before].reverse(), [...after].reverse())).toEqual({ add, remove, change });
      }),
    );
  });
});
