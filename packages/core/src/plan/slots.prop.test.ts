import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reservedTags } from '../value/tags.ts';
import { bindLogicalIds, bindSlots, type SlotMember } from './slots.ts';

const tags = fc
  .record(
    {
      slot: fc.oneof(fc.nat(12).map(String), fc.constant('x')),
      hash: fc.constantFrom('new', 'old'),
      logical: fc.constantFrom('p', 'q', 'r'),
    },
    { requiredKeys: [] },
  )
  .map(({ slot, hash, logical }) => ({
    ...(slot !== undefined && { [reservedTags.slot]: slot }),
    ...(hash !== undefined && { [reservedTags.configHash]: hash }),
    ...(logical !== undefined && { [reservedTags.logicalId]: logical }),
  }));
const members = fc.uniqueArray(
  fc.record(
    {
      id: fc.string({ minLength: 1, maxLength: 2, unit: fc.constantFrom(...'abcdef') }),
      tags: fc.option(tags),
      health: fc.constantFrom('healthy' as const, 'unhealthy' as const, 'unknown' as const),
      createdMs: fc.nat(2),
    },
    { requiredKeys: ['id', 'tags', 'health'] },
  ),
  { selector: ({ id }) => id, maxLength: 14 },
) as fc.Arbitrary<SlotMember[]>;
const context = members.chain((drawn) =>
  fc.record({
    members: fc.constant(drawn),
    condemned: fc.subarray(drawn.map(({ id }) => id)).map((ids) => new Set(ids)),
    configHash: fc.constant('new'),
    size: fc.nat(10),
    selfId: fc.constantFrom(...drawn.map(({ id }) => id), 'nobody'),
  }),
);

describe('slots, for any observed set', () => {
  it('N slots: after acting there are N members in N different slots, and binding again changes nothing', () => {
    fc.assert(
      fc.property(context, (given) => {
        const { slots, victims } = bindSlots(given);
        expect(new Set(slots.map(({ slot }) => slot)).size).toBe(given.size);
        const bound = slots.flatMap(({ memberId }) => (memberId === null ? [] : [memberId]));
        expect([...bound, ...victims].sort()).toEqual(given.members.map(({ id }) => id).sort());
        const after = slots.map(({ slot, memberId }): SlotMember => {
          const old = given.members.find(({ id }) => id === memberId);
          const made: SlotMember = {
            id: `made for ${slot}`,
            health: 'unknown',
            tags: { [reservedTags.configHash]: 'new' },
          };
          const { tags: labels, ...rest } = old ?? made;
          return { ...rest, tags: { ...labels, [reservedTags.slot]: String(slot) } };
        });
        expect(after).toHaveLength(given.size);
        const again = bindSlots({ ...given, members: after });
        expect(again.victims).toEqual([]);
        expect(again.slots.every(({ memberId, adopt }) => memberId !== null && !adopt)).toBe(true);
        expect(again.slots.map(({ slot }) => slot)).toEqual(slots.map(({ slot }) => slot));
      }),
    );
  });

  it('a member that stays is never moved from a slot that it alone claims', () => {
    fc.assert(
      fc.property(context, (given) => {
        const { slots } = bindSlots(given);
        const slotOf = ({ tags: labels }: SlotMember) => labels?.[reservedTags.slot];
        const staying = given.members.filter(({ id }) => slots.some(({ memberId }) => memberId === id));
        for (const one of staying) {
          const claimed = slotOf(one);
          if (claimed === undefined || claimed === 'x') continue;
          if (staying.filter((other) => slotOf(other) === claimed).length > 1) continue;
          expect(slots).toContainEqual({ slot: Number(claimed), memberId: one.id, adopt: false });
        }
      }),
    );
  });

  it('our own host is a victim only if condemned or if nobody stays, and then the last one; no condemned stays', () => {
    fc.assert(
      fc.property(context, (given) => {
        const { slots, victims } = bindSlots(given);
        const at = victims.indexOf(given.selfId);
        if (at >= 0) {
          expect(at).toBe(victims.length - 1);
          expect(given.condemned.has(given.selfId) || given.size === 0).toBe(true);
        }
        expect(slots.some(({ memberId }) => memberId !== null && given.condemned.has(memberId))).toBe(false);
      }),
    );
  });

  it('the order of members is irrelevant', () => {
    fc.assert(
      fc.property(
        context.chain((given) =>
          fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.members], { minLength: given.members.length })),
        ),
        ([given, shuffled]) => {
          expect(bindSlots({ ...given, members: shuffled })).toEqual(bindSlots(given));
          const ids = { logicalIds: ['p', 'q'] };
          expect(bindLogicalIds({ ...given, ...ids, members: shuffled })).toEqual(bindLogicalIds({ ...given, ...ids }));
        },
      ),
    );
  });

  it('logical ids: one slot each, every member bound, a victim, or unidentified', () => {
    fc.assert(
      fc.property(context, (given) => {
        const { slots, victims, unidentified } = bindLogicalIds({ ...given, logicalIds: ['p', 'q'] });
        expect(slots.map(({ slot }) => slot)).toEqual(['p', 'q']);
        const bound = slots.flatMap(({ memberId }) => (memberId === null ? [] : [memberId]));
        expect([...bound, ...victims, ...unidentified].sort()).toEqual(given.members.map(({ id }) => id).sort());
      }),
    );
  });
});
