import { describe, expect, it } from 'vitest';
import type { Act, Plan } from './act.ts';
import { admit, approve, type BudgetFacts, onCommit, settle } from './budget.ts';
import { emptyLedger, Ledger, ownedCount } from './ledger.ts';
import { planId } from './plan-id.ts';

const minute = 60_000;
const hour = 60 * minute;
const ids = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `i${String(from + index).padStart(4, '0')}`);
const planOf = (acts: readonly Act[]): Plan => ({ id: planId(acts), acts });
const destroys = (gone: readonly string[], explained?: Extract<Act, { kind: 'destroy' }>['explained']): Act[] =>
  gone.map((id) => ({ kind: 'destroy', id, ...(explained !== undefined && { explained }) }));
const keeps = (kept: readonly string[]): Act[] => kept.map((id) => ({ kind: 'keep', id, key: id, sourceId: id }));
const facts = (owned: number, nowMs = 0): BudgetFacts => ({ isKnown: true, ownedCount: owned, nowMs });
const gone = (plan: Plan): string[] => plan.acts.flatMap((act) => (act.kind === 'destroy' ? [act.id] : []));
const departure = { by: 'departure', cause: 'scale', revision: 3 } as const;

describe('Law 6: what a budget lets through', () => {
  it.each([
    [100, 30, true],
    [100, 31, false],
    [5, 3, true],
    [5, 4, false],
    [3, 3, false],
    [1, 1, false],
    [4, 3, true],
  ])('of %i entries, %i unexplained destroys: %s', (owned, leaving, isAdmitted) => {
    const plan = planOf(destroys(ids(leaving)));
    const { plan: admitted, held } = admit(emptyLedger, plan, facts(owned));
    expect(gone(admitted)).toEqual(isAdmitted ? ids(leaving) : []);
    expect(held).toEqual(isAdmitted ? null : { planId: plan.id, destroys: ids(leaving) });
    expect(admitted.id).toBe(plan.id);
  });

  it('limits are settings', () => {
    const plan = planOf(destroys(ids(10)));
    expect(admit(emptyLedger, plan, { ...facts(100), maxDestroyPercent: 9, maxDestroyFloor: 0 }).held).not.toBeNull();
    expect(admit(emptyLedger, plan, { ...facts(100), maxDestroyPercent: 10, maxDestroyFloor: 0 }).held).toBeNull();
    expect(admit(emptyLedger, plan, { ...facts(100), maxDestroyPercent: 0, maxDestroyFloor: 10 }).held).toBeNull();
  });

  it('explained departures, replacements and reductions are not counted, and pass beside a hold', () => {
    const others: Act[] = [
      { kind: 'create', key: 'k', sourceId: 'k' },
      { kind: 'replace', key: 'r', sourceId: 'r', id: 'r', content: 'new' },
      ...destroys(ids(80, 100), departure),
      { kind: 'duplicate', key: 'd', id: 'd2', of: 'd1', reduce: true },
    ];
    const whole = admit(emptyLedger, planOf(others), facts(100));
    expect(whole.plan.acts).toEqual(others);
    expect(whole.ledger).toBe(emptyLedger);
    const { plan, held } = admit(emptyLedger, planOf([...others, ...destroys(ids(40))]), facts(130));
    expect(plan.acts).toEqual(others);
    expect(held?.destroys).toEqual(ids(40));
  });

  it('the last entry is never taken unexplained, also when explained ones take the others; a committed 0 passes', () => {
    const acts = [...destroys(['a', 'b'], departure), ...destroys(['c'])];
    expect(gone(admit(emptyLedger, planOf(acts), facts(3)).plan)).toEqual(['a', 'b']);
    const empty = destroys(['a', 'b', 'c'], { by: 'empty', reason: 'target' });
    expect(admit(emptyLedger, planOf(empty), facts(3)).held).toBeNull();
  });

  it('an id in the ledger whose destroy failed is not counted again', () => {
    const plan = planOf(destroys(ids(3)));
    const { ledger } = admit(emptyLedger, plan, facts(8));
    const retried = admit(settle(ledger, { ...facts(8, minute), target: 8, count: 5 }), plan, facts(8, minute));
    expect(gone(retried.plan)).toEqual(ids(3));
    expect(retried.ledger).toBe(ledger);
    expect(admit(ledger, planOf(destroys(ids(4))), facts(8)).held).not.toBeNull();
  });
});

describe('Law 6: when the ledger empties', () => {
  const { ledger } = admit(emptyLedger, planOf(destroys(ids(2))), facts(10));

  it('when the group is whole again, and not before', () => {
    expect(settle(ledger, { ...facts(9), target: 10, count: 9 })).toBe(ledger);
    expect(settle(ledger, { ...facts(9), target: 10, count: 10 })).toBe(emptyLedger);
    expect(settle(ledger, { ...facts(9), target: 10 })).toBe(ledger);
    expect(settle(ledger, { ...facts(8, 9 * hour), target: 10, count: 8 })).toBe(ledger);
  });

  it('without a target an hour after the last; never from a source that is not known (Law 1)', () => {
    expect(settle(ledger, facts(8, hour - 1))).toBe(ledger);
    expect(settle(ledger, facts(8, hour))).toBe(emptyLedger);
    expect(settle(ledger, { ...facts(8, 9 * hour), isKnown: false })).toBe(ledger);
  });

  it('its peak follows the number of ours while it counts', () => {
    const grown = settle(ledger, { ...facts(40), target: 50, count: 40 });
    expect(grown.peak).toBe(40);
    expect(settle(grown, { ...facts(12), target: 50, count: 12 })).toBe(grown);
    expect(admit(grown, planOf(destroys(ids(10, 50))), facts(12)).held).toBeNull();
    expect(admit(grown, planOf(destroys(ids(11, 50))), facts(12)).held).not.toBeNull();
  });

  it('at a commit, and it survives a restart', () => {
    expect(onCommit(ledger)).toBe(emptyLedger);
    expect(onCommit(emptyLedger)).toBe(emptyLedger);
    expect(Ledger.parse(JSON.parse(JSON.stringify(ledger)))).toEqual(ledger);
  });
});

describe('Law 6: a hold', () => {
  const plan = planOf([...keeps(ids(60, 40)), ...destroys(ids(40))]);
  const short = { target: 100, count: 60 };
  const hold = () => admit(emptyLedger, plan, facts(100)).ledger;

  it('stays, unchanged, while the members are away, however long (Law 8), and lets smaller plans through no more', () => {
    const held = hold();
    const again = admit(settle(held, { ...facts(100, 9 * hour), ...short }), plan, facts(100, 9 * hour));
    expect(again.ledger).toBe(held);
    expect(again.held).toEqual({ planId: plan.id, destroys: ids(40) });
    const fewer = planOf([...keeps(ids(99, 1)), ...destroys(ids(1))]);
    expect(gone(admit(held, fewer, facts(100)).plan)).toEqual([]);
    expect(gone(admit(settle(held, facts(100, 9 * hour)), fewer, facts(100, 9 * hour)).plan)).toEqual([]);
  });

  it('ends when all members are back', () => {
    const { ledger, held } = admit(hold(), planOf(keeps(ids(100))), facts(100));
    expect(held).toBeNull();
    expect(ledger.held).toBeUndefined();
  });

  it('outlives a source that is not known, or members whose key is not (Law 1, Law 5)', () => {
    const held = hold();
    const blind = admit(settle(held, { ...facts(100), isKnown: false }), planOf([]), { ...facts(100), isKnown: false });
    expect(blind.ledger).toBe(held);
    expect(blind.held?.destroys).toEqual(ids(40));
    const bad = ids(40).map((id): Act => ({ kind: 'quarantined', side: 'sink', id, reason: 'no key' }));
    expect(admit(held, planOf(bad), facts(100)).held?.destroys).toEqual(ids(40));
  });

  it('is reviewed once the group is whole: its machines were replaced, and what is left is within the budget', () => {
    const whole = { target: 100, count: 100 };
    const now = facts(140, hour);
    const replaced = planOf([...keeps(ids(60, 40)), ...keeps(ids(40, 200)), ...destroys(ids(40))]);
    const { plan: admitted, ledger } = admit(settle(hold(), { ...now, ...whole }), replaced, now);
    expect(gone(admitted)).toEqual(ids(40));
    expect(ledger.held).toBeUndefined();
  });

  it('is not ended by a review while the keys of its entries are unknown (Law 5)', () => {
    const whole = { ...facts(100, hour), target: 60, count: 60 };
    const bad = ids(40).map((id): Act => ({ kind: 'quarantined', side: 'sink', id, reason: 'no key' }));
    expect(admit(settle(hold(), whole), planOf(bad), whole).held?.destroys).toEqual(ids(40));
  });

  it('that a review does not end is the same object from then on (Law 8)', () => {
    const whole = { ...facts(100, hour), target: 60, count: 60 };
    const first = admit(settle(hold(), whole), plan, whole);
    expect(first.held?.destroys).toEqual(ids(40));
    expect(admit(settle(first.ledger, whole), plan, whole).ledger).toBe(first.ledger);
  });

  it('ends at a commit', () => {
    expect(onCommit(hold())).toBe(emptyLedger);
  });
});

describe('Law 6: approve', () => {
  const plan = planOf(destroys(ids(40)));
  const held = admit(emptyLedger, plan, facts(40)).ledger;

  it('lets exactly the plan shown through, once, even the last entry; its failed destroys are tried again', () => {
    const approved = approve(held, plan.id);
    expect(approve(approved, plan.id)).toBe(approved);
    const first = admit(approved, plan, facts(40));
    expect(gone(first.plan)).toEqual(ids(40));
    expect(first.held).toBeNull();
    expect(first.ledger.approved).toBeUndefined();
    const retry = admit(first.ledger, planOf(destroys(ids(1))), facts(1));
    expect(gone(retry.plan)).toEqual(ids(1));
    const other = planOf(destroys(ids(40, 500)));
    expect(admit(first.ledger, other, facts(100)).held?.planId).toBe(other.id);
  });

  it('counts nothing of what it let through', () => {
    const { ledger } = admit(approve(held), plan, facts(100));
    expect(admit(ledger, planOf(destroys(ids(30, 100))), facts(100)).held).toBeNull();
  });

  it('is spent when the plan has changed by then', () => {
    const grown = planOf(destroys(ids(41)));
    const { plan: admitted, ledger, held: now } = admit(approve(held, plan.id), grown, facts(100));
    expect(gone(admitted)).toEqual([]);
    expect(now?.planId).toBe(grown.id);
    expect(gone(admit(ledger, plan, facts(100)).plan)).toEqual([]);
  });

  it('refuses a stale plan, and when nothing is held', () => {
    expect(() => approve(held, 'another')).toThrow(expect.objectContaining({ code: 'PLAN_STALE' }));
    expect(() => approve(emptyLedger, plan.id)).toThrow(expect.objectContaining({ code: 'PLAN_STALE' }));
  });
});

describe('Law 6: over time', () => {
  it('a slow drain, one at a time over hours and restarts, is stopped at 30 of 100', () => {
    let ledger: Ledger = emptyLedger;
    let left = ids(100);
    for (let step = 0; step < 60; step += 1) {
      const now = { ...facts(left.length, step * 50 * minute), target: 100, count: 99 - step };
      const acts = planOf([
        ...keeps(left.slice(step + 1)),
        ...destroys(left.filter((id) => id <= `i${String(step).padStart(4, '0')}`)),
      ]);
      const { plan, ledger: after } = admit(settle(ledger, now), acts, now);
      const taken = new Set(gone(plan));
      left = left.filter((id) => !taken.has(id));
      ledger = Ledger.parse(JSON.parse(JSON.stringify(after)));
    }
    expect(left).toHaveLength(70);
    expect(ledger.held).toBeDefined();
  });

  it.each([2, 4, 10])(
    'a group of %i whose machines die and are replaced one by one for a year is never held',
    (size) => {
      let ledger: Ledger = emptyLedger;
      let entries = ids(size);
      for (let day = 0; day < 365; day += 1) {
        const [dead = '', ...living] = entries;
        const died = { ...facts(size, day * 24 * hour), target: size, count: size - 1 };
        const death = admit(settle(ledger, died), planOf([...keeps(living), ...destroys([dead])]), died);
        expect(death.held).toBeNull();
        entries = [...living, `new${day}`];
        const healed = { ...facts(size - 1, day * 24 * hour + minute), target: size, count: size };
        const made: Act = { kind: 'create', key: `new${day}`, sourceId: `new${day}` };
        const whole = admit(settle(death.ledger, healed), planOf([made, ...keeps(living)]), healed);
        expect(whole.ledger).toBe(emptyLedger);
        ledger = whole.ledger;
      }
    },
  );

  it('a group of one keeps its last entry until the replacement is there, and then lets it go', () => {
    const died = { ...facts(1), target: 1, count: 0 };
    const death = admit(settle(emptyLedger, died), planOf(destroys(['old'])), died);
    expect(death.held?.destroys).toEqual(['old']);
    const healed = { ...facts(2, hour), target: 1, count: 1 };
    const whole = admit(settle(death.ledger, healed), planOf([...keeps(['new']), ...destroys(['old'])]), healed);
    expect(gone(whole.plan)).toEqual(['old']);
    expect(whole.held).toBeNull();
  });
});

it('ours are counted without what is foreign, may not go, or is going', () => {
  const key = { kind: 'known', value: 'k' } as const;
  expect(
    ownedCount(
      [
        { id: 'a', key, ownership: { kind: 'ours' } },
        { id: 'b', key, ownership: { kind: 'named', judged: true } },
        { id: 'c', key, ownership: { kind: 'ours' } },
        { id: 'd', key, ownership: { kind: 'foreign' } },
        { id: 'e', key, ownership: { kind: 'untagged', adopted: false, destroyable: false } },
      ],
      new Set(['c']),
    ),
  ).toBe(2);
});
