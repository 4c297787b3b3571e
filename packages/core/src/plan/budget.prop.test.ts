import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Act } from './act.ts';
import { admit, approve, onCommit, settle } from './budget.ts';
import { emptyLedger, Ledger } from './ledger.ts';
import { planId } from './plan-id.ts';

const size = 20;
const limit = 6;
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('die' as const), index: fc.nat(size - 1) }) },
  fc.record({ kind: fc.constant('return' as const), index: fc.nat(size - 1) }),
  fc.constant({ kind: 'lost' as const }),
  fc.constant({ kind: 'restart' as const }),
);

/** A rule over a source of `size` members that die and come back; all acts of its plans are done. */
it('Law 6: until it is whole, never more than the budget goes, and an idle cycle changes no ledger (Law 8)', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const source = new Set(Array.from({ length: size }, (_, index) => `m${index}`));
      const sink = new Set(source);
      let ledger: Ledger = emptyLedger;
      let taken = new Set<string>();
      let nowMs = 0;
      const cycle = (isKnown: boolean): void => {
        nowMs += 1_000;
        const missing = isKnown ? [...sink].filter((id) => !source.has(id)) : [];
        const acts: Act[] = [
          ...[...source]
            .filter((id) => isKnown && !sink.has(id))
            .map((id) => ({ kind: 'create' as const, key: id, sourceId: id })),
          ...[...sink]
            .filter((id) => source.has(id))
            .map((id) => ({ kind: 'keep' as const, key: id, sourceId: id, id })),
          ...missing.map((id) => ({ kind: 'destroy' as const, id })),
        ];
        const facts = { isKnown, ownedCount: sink.size, nowMs, target: size, count: source.size };
        const { plan, ledger: after } = admit(settle(ledger, facts), { id: planId(acts), acts }, facts);
        ledger = after;
        for (const act of plan.acts) {
          if (act.kind === 'create') sink.add(act.key);
          if (act.kind !== 'destroy') continue;
          sink.delete(act.id);
          taken.add(act.id);
        }
      };
      for (const one of steps) {
        if (one.kind === 'die') source.delete(`m${one.index}`);
        if (one.kind === 'return') source.add(`m${one.index}`);
        if (one.kind === 'restart') ledger = Ledger.parse(JSON.parse(JSON.stringify(ledger)));
        if (source.size === size) taken = new Set();
        cycle(one.kind !== 'lost');
        expect(taken.size).toBeLessThanOrEqual(limit);
        expect(sink.size).toBeGreaterThan(0);
        cycle(true);
        const settled = ledger;
        cycle(true);
        expect(ledger).toBe(settled);
        cycle(false);
        expect(ledger).toBe(settled);
      }
      if (ledger.held !== undefined) {
        const missing = [...sink].filter((id) => !source.has(id));
        expect(ledger.held.ids).toEqual(expect.arrayContaining(missing));
        expect(approve(ledger).approved).toBe(ledger.held.planId);
      }
      expect(onCommit(ledger)).toEqual(emptyLedger);
    }),
  );
});
