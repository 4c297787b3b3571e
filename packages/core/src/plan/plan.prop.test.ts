import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Act } from './act.ts';
import type { DesiredEntry, Key, ObservedEntry, Ownership, SourceReading } from './entry.ts';
import { type PlanInput, plan } from './plan.ts';
import { emptyPlanId, isChange } from './plan-id.ts';
import { applyPolicy, policies } from './plan-policy.ts';
import { enrollmentPolicies, sourcePolicies } from './plan-withhold.ts';

const name = fc.constantFrom(...'abcdefgh');
const aKey: fc.Arbitrary<Key> = fc.oneof(
  { weight: 5, arbitrary: name.map((value): Key => ({ kind: 'known', value })) },
  { weight: 1, arbitrary: fc.constant<Key>({ kind: 'unknown', reason: 'no value' }) },
);
const content = fc.constantFrom('1', '2');
const ownership: fc.Arbitrary<Ownership> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Ownership>({ kind: 'ours' }) },
  fc.record({ kind: fc.constant('named' as const), judged: fc.boolean() }),
  fc.record({ kind: fc.constant('untagged' as const), adopted: fc.boolean(), destroyable: fc.boolean() }),
  fc.constant<Ownership>({ kind: 'foreign', owner: 'other' }),
);
const desired = fc.uniqueArray(
  fc.record({ id: fc.string({ maxLength: 2, unit: 'binary' }), key: aKey, content }, { requiredKeys: ['id', 'key'] }),
  { selector: ({ id }) => id, maxLength: 8 },
) as fc.Arbitrary<DesiredEntry[]>;
const observed = fc.uniqueArray(
  fc.record(
    {
      id: fc.string({ maxLength: 2, unit: 'binary' }),
      key: aKey,
      ownership,
      sourceId: name,
      content,
      createdMs: fc.nat(3),
    },
    { requiredKeys: ['id', 'key', 'ownership'] },
  ),
  { selector: ({ id }) => id, maxLength: 10 },
) as fc.Arbitrary<ObservedEntry[]>;
const known = desired.map((entries): SourceReading => ({ kind: 'known', entries }));
const notKnown: fc.Arbitrary<SourceReading> = fc.oneof(
  fc.constant<SourceReading>({ kind: 'unknown', reason: 'timeout' }),
  desired.map((entries): SourceReading => ({ kind: 'partial', reason: 'short', entries })),
);
const inputOf = (source: fc.Arbitrary<SourceReading>): fc.Arbitrary<PlanInput> =>
  fc.record({
    source,
    observed,
    onChange: fc.constantFrom('keep' as const, 'replace' as const),
    sourcePolicy: fc.constantFrom(...sourcePolicies),
    enrollmentPolicy: fc.constantFrom(...enrollmentPolicies),
    creating: fc.constantFrom(new Set<string>(), new Set(['a'])),
    destroying: fc.constantFrom(new Set<string>(), new Set(['a', 'b'])),
  });
const anInput = inputOf(fc.oneof({ weight: 4, arbitrary: known }, notKnown));

const takenAway = (acts: readonly Act[]): string[] =>
  acts.flatMap((act) => (act.kind === 'destroy' || (act.kind === 'duplicate' && act.reduce) ? [act.id] : []));
const entriesOf = (source: SourceReading) => (source.kind === 'unknown' ? [] : source.entries);

/** A sink that does what a plan says. */
const act = (before: readonly ObservedEntry[], acts: readonly Act[]): ObservedEntry[] => {
  const sink = new Map(before.map((entry) => [entry.id, entry]));
  const change = (id: string, rest: Partial<ObservedEntry>): void => {
    const entry = sink.get(id);
    if (entry === undefined) throw new Error(`no entry ${id} in the sink`);
    sink.set(id, { ...entry, ownership: { kind: 'ours' }, ...rest });
  };
  for (const one of acts) {
    if (one.kind === 'create') {
      const { key, sourceId } = one;
      const made = one.content === undefined ? {} : { content: one.content };
      const id = `made for ${sourceId}`;
      sink.set(id, { id, key: { kind: 'known', value: key }, ownership: { kind: 'ours' }, sourceId, ...made });
    } else if (one.kind === 'label') change(one.id, {});
    else if (one.kind === 'replace') change(one.id, { content: one.content });
    else if (one.kind === 'destroy' || (one.kind === 'duplicate' && one.reduce)) sink.delete(one.id);
  }
  return [...sink.values()];
};

describe('plan, for any source and sink', () => {
  // A label or a replacement makes an entry ours, which may bring a further act on it: never more than one.
  it('Law 3: act, then plan again, comes to nothing within three plans, and at once where all is labelled', () => {
    fc.assert(
      fc.property(anInput, fc.boolean(), (input, isLabelled) => {
        const start = isLabelled
          ? input.observed.map((entry) => ({ ...entry, ownership: { kind: 'ours' } as const }))
          : input.observed;
        const again = { ...input, creating: new Set<string>(), destroying: new Set<string>() };
        let sink = start;
        for (let round = 0; round < (isLabelled ? 1 : 3); round += 1) {
          sink = act(sink, plan({ ...again, observed: sink }).acts);
        }
        expect(plan({ ...again, observed: sink }).acts.filter(isChange)).toEqual([]);
        expect(plan({ ...again, observed: sink }).id).toBe(emptyPlanId);
      }),
    );
  });

  it('Law 3: the order of input is irrelevant', () => {
    fc.assert(
      fc.property(
        anInput.chain((input) =>
          fc.tuple(
            fc.constant(input),
            fc.shuffledSubarray([...input.observed], { minLength: input.observed.length }),
            fc.shuffledSubarray([...entriesOf(input.source)], { minLength: entriesOf(input.source).length }),
          ),
        ),
        ([input, shuffled, entries]) => {
          const source = input.source.kind === 'unknown' ? input.source : { ...input.source, entries };
          expect(plan({ ...input, source, observed: shuffled })).toEqual(plan(input));
        },
      ),
    );
  });

  it('Law 3: neither computing nor filtering a plan changes what it is given', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const before = structuredClone(input);
        applyPolicy(plan(input), 'observe');
        expect(input).toEqual(before);
      }),
    );
  });

  it('create ∩ destroy = ∅: no key is created that is destroyed or kept, and no id has two acts', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const { acts } = plan(input);
        const created = acts.flatMap((one) => (one.kind === 'create' ? [one.key] : []));
        const other = new Set(acts.flatMap((one) => ('key' in one && one.kind !== 'create' ? [one.key] : [])));
        expect(created.filter((key) => other.has(key))).toEqual([]);
        const sides = acts.map((one) =>
          one.kind === 'create' || (one.kind === 'quarantined' && one.side === 'source')
            ? `source ${one.kind === 'create' ? one.sourceId : one.id}`
            : `sink ${one.id}`,
        );
        expect(new Set(sides).size).toBe(sides.length);
      }),
    );
  });

  it('Law 4: foreign is never changed, what is not judged or not ours to destroy never goes', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const acts = plan(input).acts.filter(isChange);
        const gone = new Set(takenAway(acts));
        const touched = new Set(acts.flatMap((one) => (one.kind === 'create' ? [] : [one.id])));
        for (const { id, ownership: whose } of input.observed) {
          if (whose.kind === 'foreign') expect(touched.has(id)).toBe(false);
          if (whose.kind === 'named' && !whose.judged) expect(touched.has(id)).toBe(false);
          if (whose.kind === 'untagged' && !whose.adopted && !whose.destroyable) expect(gone.has(id)).toBe(false);
        }
      }),
    );
  });

  it('Law 4: entries of others change nothing for ours', () => {
    fc.assert(
      fc.property(anInput, (input) => {
        const without = input.observed.filter((entry) => entry.ownership.kind !== 'foreign');
        expect(plan({ ...input, observed: without }).id).toBe(plan(input).id);
      }),
    );
  });

  it('Law 1: a source that is not known as a whole takes nothing away and replaces nothing', () => {
    fc.assert(
      fc.property(inputOf(notKnown), (input) => {
        const { acts } = plan(input);
        expect(takenAway(acts)).toEqual([]);
        expect(acts.some((one) => one.kind === 'replace')).toBe(false);
        if (input.source.kind === 'unknown') expect(acts.filter(isChange)).toEqual([]);
      }),
    );
  });

  it('Law 2: a known-empty source takes everything that is ours, with an explanation', () => {
    fc.assert(
      fc.property(observed, (entries) => {
        const { acts } = plan({ source: { kind: 'known', entries: [], target: 0, count: 0 }, observed: entries });
        const mine = entries.filter((entry) => entry.ownership.kind === 'ours').map(({ id }) => id);
        expect(takenAway(acts)).toEqual(expect.arrayContaining(mine));
        expect(acts.every((one) => one.kind !== 'destroy' || one.explained?.by === 'empty')).toBe(true);
      }),
    );
  });

  it('Law 5: what has no key is neither created nor destroyed, and is named', () => {
    fc.assert(
      fc.property(inputOf(known), (drawn) => {
        const input: PlanInput = { ...drawn, sourcePolicy: 'Quarantine', enrollmentPolicy: 'Quarantine' };
        const { acts } = plan(input);
        const named = new Set(acts.flatMap((one) => (one.kind === 'quarantined' ? [`${one.side} ${one.id}`] : [])));
        const gone = new Set(takenAway(acts));
        const created = new Set(acts.flatMap((one) => (one.kind === 'create' ? [one.sourceId] : [])));
        const bad = entriesOf(input.source).filter(({ key }) => key.kind === 'unknown');
        for (const { id } of bad) {
          expect(created.has(id)).toBe(false);
          expect(named.has(`source ${id}`)).toBe(true);
        }
        const badIds = new Set(bad.map(({ id }) => id));
        const isDestroyed = (entry: ObservedEntry) => acts.some((one) => one.kind === 'destroy' && one.id === entry.id);
        for (const entry of input.observed) {
          if (input.destroying?.has(entry.id)) continue;
          const isUnreadable = entry.key.kind === 'unknown' && !['foreign', 'untagged'].includes(entry.ownership.kind);
          if (entry.key.kind === 'unknown') expect(gone.has(entry.id)).toBe(false);
          if (isUnreadable) {
            expect(named.has(`sink ${entry.id}`)).toBe(true);
            if (entry.sourceId === undefined) expect(created.size).toBe(0);
            else expect(created.has(entry.sourceId)).toBe(false);
          }
          if (entry.sourceId === undefined ? bad.length > 0 : badIds.has(entry.sourceId)) {
            expect(isDestroyed(entry)).toBe(false);
          }
        }
      }),
    );
  });

  it('a policy only removes acts, and reports stay', () => {
    fc.assert(
      fc.property(anInput, fc.constantFrom(...policies), (input, policy) => {
        const whole = plan(input);
        const filtered = applyPolicy(whole, policy);
        expect(filtered.acts.every((one) => whole.acts.includes(one))).toBe(true);
        expect(filtered.acts.filter((one) => !isChange(one))).toEqual(whole.acts.filter((one) => !isChange(one)));
        if (policy === 'sync') expect(filtered).toBe(whole);
        else expect(takenAway(filtered.acts)).toEqual([]);
        if (policy === 'create-only')
          expect(filtered.acts.every((one) => !isChange(one) || one.kind === 'create')).toBe(true);
        if (policy === 'observe') expect(filtered.id).toBe(emptyPlanId);
      }),
    );
  });
});
