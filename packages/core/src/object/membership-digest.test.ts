import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Departure, Member } from './membership.ts';
import { departuresBetween, explainDepartures, isWhole, membersDigest, trimDepartures } from './membership-digest.ts';

const member = (ID: string, rest: Partial<Member> = {}): Member => ({
  ID,
  LogicalID: null,
  Tags: { b: '2', a: '1' },
  Health: 'healthy',
  ...rest,
});
const left = (ID: string, Revision: number, Cause: Departure['Cause'] = 'scale'): Departure => ({
  ID,
  Cause,
  Revision,
});

describe('membership digest', () => {
  it('is the same for any order of members and tags', () => {
    const members = ['m1', 'm2', 'm3', 'm10'].map((id) => member(id));
    fc.assert(
      fc.property(fc.shuffledSubarray(members, { minLength: 4 }), (shuffled) => {
        expect(membersDigest(shuffled)).toBe(membersDigest(members));
      }),
    );
    expect(membersDigest([member('m1', { Tags: { a: '1', b: '2' } })])).toBe(membersDigest([member('m1')]));
  });

  it('differs when a member or anything of it does', () => {
    const digests = [
      [],
      [member('m1')],
      [member('m2')],
      [member('m1'), member('m2')],
      [member('m1', { Health: 'unhealthy' })],
      [member('m1', { Tags: null })],
      [member('m1', { Address: '10.0.0.1' })],
      [member('m1', { LogicalID: 'm1' })],
    ].map(membersDigest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('whole is known with count ≥ target, and nothing else', () => {
    const known = (count: number, target: number) =>
      isWhole({ kind: 'known', count, target, revision: 1, digest: '', phase: 'running' });
    expect([known(2, 3), known(3, 3), known(4, 3), known(0, 0)]).toEqual([false, true, true, true]);
    expect(isWhole({ kind: 'unknown', reason: 'freed' })).toBe(false);
    expect(isWhole({ kind: 'partial', reason: 'one plugin down' })).toBe(false);
  });
});

describe('departures', () => {
  it('carry the cause that was journalled before the act, else vanished (DESIGN §3)', () => {
    const causes = new Map([['b', 'update' as const]]);
    expect(departuresBetween(['c', 'b', 'a'], new Set(['a', 'd']), { causes, revision: 8 })).toEqual([
      left('b', 8, 'update'),
      left('c', 8, 'vanished'),
    ]);
  });

  it('are trimmed only past what every registered consumer has acknowledged', () => {
    const all = [left('a', 1), left('b', 2), left('c', 3)];
    expect(
      trimDepartures(
        all,
        new Map([
          ['nfs', 2],
          ['lb', 1],
        ]),
      ),
    ).toEqual([left('b', 2), left('c', 3)]);
    expect(
      trimDepartures(
        all,
        new Map([
          ['nfs', 3],
          ['lb', 0],
        ]),
      ),
    ).toBe(all);
    expect(trimDepartures(all, new Map())).toEqual([]);
  });

  it('Law 6: the last departure of a member explains, and one that vanished explains nothing', () => {
    const explained = explainDepartures([
      left('a', 1),
      left('b', 5, 'vanished'),
      left('b', 2),
      left('c', 4, 'vanished'),
    ]);
    expect([...explained]).toEqual([['a', { by: 'departure', cause: 'scale', revision: 1 }]]);
    expect(explainDepartures([left('b', 2, 'vanished'), left('b', 5, 'update')]).get('b')).toEqual({
      by: 'departure',
      cause: 'update',
      revision: 5,
    });
  });
});
