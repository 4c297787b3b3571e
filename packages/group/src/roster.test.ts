import type { InstanceDescription } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { MemberNews } from './member-feed.ts';
import { membershipLog } from './membership.ts';
import { roster } from './roster.ts';

const machine = (ID: string, Tags: Record<string, string> = {}): InstanceDescription => ({ ID, LogicalID: null, Tags });

const watched = (...first: InstanceDescription[]) => {
  const who = roster();
  const told: string[] = [];
  const tell = ({ kind, member, cause }: MemberNews): void => {
    told.push([kind, member.ID, cause].filter((part) => part !== undefined).join(' '));
  };
  const look = (nowMs: number, ...instances: InstanceDescription[]): string[] => {
    told.length = 0;
    who.observe(instances, { nowMs, leaving: new Map([['b', 'scale']]), tell });
    return told.sort();
  };
  look(0, ...first);
  return { who, look };
};

const ids = (who: ReturnType<typeof roster>): string[] => who.list().map(({ ID }) => ID);

describe('a roster (DESIGN §3 Membership)', () => {
  test('tells who came, changed and left since the last look, with the cause that is known', () => {
    const { who, look } = watched(machine('a'), machine('b'), machine('c'));
    expect(ids(who)).toEqual(['a', 'b', 'c']);
    expect(look(1, machine('a', { x: '1' }), machine('d'))).toEqual([
      'changed a',
      'joined d',
      'left b scale',
      'left c vanished',
    ]);
  });

  test('one that was destroyed is out though the sink still shows it, and in again when it shows it for too long', () => {
    const { who, look } = watched(machine('a'), machine('b'));
    expect(who.leave('a', 1_000)).toBe(true);
    expect(who.leave('a', 1_000)).toBe(false);
    expect(look(500, machine('a'), machine('b'))).toEqual([]);
    expect([ids(who), who.hasLeft('a'), who.isOverdue(500)]).toEqual([['b'], true, false]);
    expect(who.isOverdue(1_000)).toBe(true);
    expect(look(1_000, machine('a'), machine('b'))).toEqual(['joined a']);
    expect([ids(who), who.hasLeft('a')]).toEqual([['a', 'b'], false]);
  });

  test('one that was made is in before the sink shows it, and out when it never does (G-21)', () => {
    const { who, look } = watched();
    who.join(machine('a'), 'healthy', 1_000);
    who.join(machine('b'), 'unknown', 1_000);
    expect(who.unseen().map(({ ID }) => ID)).toEqual(['a', 'b']);
    expect(look(500, machine('a'))).toEqual([]);
    expect(who.unseen().map(({ ID }) => ID)).toEqual(['b']);
    expect(who.doubtful().map(({ ID }) => ID)).toEqual(['b']);
    expect(look(1_000, machine('a'))).toEqual(['left b scale']);
    expect(ids(who)).toEqual(['a']);
  });

  test('who is in again is not told as departed', () => {
    const { who, look } = watched(machine('a'));
    const log = membershipLog(who, { ceiling: 10, departed: [], incarnation: 'one' });
    log.depart('a', 'scale');
    const told = () => {
      const answer = log.answer({ target: 1, unknown: null, isDestroyed: false });
      return answer.kind === 'members' ? answer.departures : [];
    };
    expect(told()).toEqual([]);
    look(1);
    log.touch();
    expect(told()).toEqual([{ ID: 'a', Cause: 'scale', Revision: 12 }]);
  });
});
