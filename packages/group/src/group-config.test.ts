import { describe, expect, test } from 'vitest';
import { groupConfig } from './group-config.ts';

const Instance = { Plugin: 'simulator/compute', Properties: { Note: 'hello' } };
const Flavor = { Plugin: 'vanilla', Properties: { Init: ['echo one', 'echo two'], Tags: { tier: 'web' } } };
const body = (more: object): object => ({ Allocation: { Size: 1 }, Instance, Flavor, ...more });

const refusals: [string, string, unknown, RegExp][] = [
  ['V1', ' ', body({}), /^Group ID must not be blank$/],
  ['V2', 'a', undefined, /^Allocation must not be blank$/],
  ['V2 with an empty list', 'a', body({ Allocation: { LogicalIDs: [] } }), /^Allocation must not be blank$/],
  ['V3', 'a', body({ Allocation: { Size: 1, LogicalIDs: ['x'] } }), /^Only one Allocation method may be used$/],
  ['V4', 'a', body({ Updating: { Count: 1, Duration: '1s' } }), /^Only one Updating method may be used$/],
  ['a negative size (GP §1.1)', 'a', body({ Allocation: { Size: -3 } }), /^Invalid properties: Allocation\.Size/],
  [
    'a size that no stack has (issue 5: one sentence)',
    'a',
    body({ Allocation: { Size: 1_000_001 } }),
    /at most 1000000 members/,
  ],
  ['a misspelt field', 'a', { ...body({}), Allocatoin: { Size: 1 } }, /^Invalid properties: .*Allocation/],
  ['a bad duration', 'a', body({ Updating: { Duration: '5' } }), /^Invalid properties: Updating\.Duration/],
  ['G-9', 'a', body({ Updating: { SkipBeforeInstanceDestroy: 'reboot' } }), /^Invalid properties: Updating\.Skip/],
  ['a logical id twice', 'a', body({ Allocation: { LogicalIDs: ['x', 'x'] } }), /the logical id x stands twice/],
  ['G-24: no flavor', 'a', { Allocation: { Size: 1 }, Instance }, /^Failed to find Flavor plugin ''/],
  ['G-24: no instance', 'a', { Allocation: { Size: 1 }, Flavor }, /^Failed to find Instance plugin ''/],
  ['G-24: an empty plugin name', 'a', body({ Instance: { Plugin: '' } }), /^Invalid properties: Instance\.Plugin/],
];

describe('the body of a group spec (GP §1.4)', () => {
  test.each(refusals)('refuses %s', (_row, name, properties, message) => {
    expect(() => groupConfig(name, properties)).toThrow(expect.objectContaining({ code: 'GROUP_INVALID' }));
    expect(() => groupConfig(name, properties)).toThrow(message);
  });

  test('hashes instance and flavor as the old system did (GP §1.3)', () => {
    expect(groupConfig('a', body({})).hash).toBe('im4eyzlbr7jynxmlhblykksd6qff6yh3');
  });

  test('H1, H2: neither key order, allocation nor pacing count, nested keys do', () => {
    const { hash } = groupConfig('a', body({}));
    const reordered = { Plugin: 'vanilla', Properties: { Tags: { tier: 'web' }, Init: ['echo one', 'echo two'] } };
    const paced = body({ Flavor: reordered, Allocation: { Size: 7 }, Updating: { Count: 3 } });
    expect(groupConfig('b', paced).hash).toBe(hash);
    const dropped = { Plugin: 'vanilla', Properties: { Init: ['echo one', 'echo two'] } };
    expect(groupConfig('a', body({ Flavor: dropped })).hash).not.toBe(hash);
  });

  test('G-6: a size of 0 is a size, an absent one is none', () => {
    expect(groupConfig('a', body({ Allocation: { Size: 0 } })).wanted).toEqual({ kind: 'size', size: 0 });
    expect(groupConfig('a', body({ Allocation: { Size: 0, LogicalIDs: ['x'] } })).wanted).toEqual({
      kind: 'logicalIds',
      ids: ['x'],
    });
  });

  test('fields match in any case, as users wrote them (DESIGN §5)', () => {
    const { wanted } = groupConfig('a', { allocation: { size: 4 }, instance: Instance, flavor: Flavor });
    expect(wanted).toEqual({ kind: 'size', size: 4 });
  });

  test('D7: drains unless told to skip it', () => {
    const skips = (Updating: unknown): boolean => groupConfig('a', body({ Updating })).skipsDrain;
    expect([skips(undefined), skips({}), skips(null), skips({ SkipBeforeInstanceDestroy: null })]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(skips({ SkipBeforeInstanceDestroy: 'drain' })).toBe(true);
  });
});
