import { describe, expect, it } from 'vitest';
import type { Act } from './act.ts';
import { plan } from './plan.ts';
import { planId } from './plan-id.ts';
import { applyPolicy, type policies } from './plan-policy.ts';

const acts: readonly Act[] = [
  { kind: 'create', key: 'a', sourceId: 'a' },
  { kind: 'keep', key: 'b', sourceId: 'b', id: 'i1' },
  { kind: 'label', key: 'c', sourceId: 'c', id: 'i2' },
  { kind: 'replace', key: 'd', sourceId: 'd', id: 'i3', content: 'new' },
  { kind: 'destroy', id: 'i4' },
  { kind: 'duplicate', key: 'b', id: 'i5', of: 'i1', reduce: true },
  { kind: 'duplicate', key: 'b', id: 'i6', of: 'i1', reduce: false },
  { kind: 'quarantined', side: 'source', id: 'e', reason: 'no key' },
  { kind: 'foreign', id: 'i7' },
];
const whole = { id: planId(acts), acts };
const reports = ['i1', 'i6', 'e', 'i7'];

describe('policies', () => {
  it.each([
    ['sync', ['a', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6', 'e', 'i7']],
    ['upsert-only', ['a', 'i1', 'i2', 'i3', 'i6', 'e', 'i7']],
    ['create-only', ['a', ...reports]],
    ['observe', reports],
  ] as const)('%s leaves %j', (policy, left) => {
    const filtered = applyPolicy(whole, policy);
    expect(filtered.acts.map((act) => ('id' in act ? act.id : act.sourceId))).toEqual(left);
    expect(filtered.id).toBe(planId(filtered.acts));
  });

  it.each(['bogus', 'toString', ''])('an unknown policy %j is refused everywhere (DESIGN §4)', (bogus) => {
    const refused = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
    const source = { kind: 'known', entries: [] } as const;
    expect(() => applyPolicy(whole, bogus as (typeof policies)[number])).toThrow(refused);
    expect(() => plan({ source, observed: [], sourcePolicy: bogus as 'Quarantine' })).toThrow(refused);
    expect(() => plan({ source, observed: [], enrollmentPolicy: bogus as 'Quarantine' })).toThrow(refused);
  });
});
