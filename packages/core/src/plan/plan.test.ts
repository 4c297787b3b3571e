import { describe, expect, it } from 'vitest';
import type { Act } from './act.ts';
import type { DesiredEntry, Key, ObservedEntry, Ownership } from './entry.ts';
import { type PlanInput, plan } from './plan.ts';
import { emptyPlanId } from './plan-id.ts';

const known = (value: string): Key => ({ kind: 'known', value });
const unknown = (reason: string): Key => ({ kind: 'unknown', reason });
const want = (id: string, key: Key = known(id), content?: string): DesiredEntry => ({
  id,
  key,
  ...(content !== undefined && { content }),
});
const ours: Ownership = { kind: 'ours' };
const have = (id: string, key: Key, rest: Partial<ObservedEntry> = {}): ObservedEntry => ({
  id,
  key,
  ownership: ours,
  ...rest,
});
const acts = (entries: readonly DesiredEntry[], observed: readonly ObservedEntry[], rest: Partial<PlanInput> = {}) =>
  plan({ source: { kind: 'known', entries }, observed, ...rest }).acts;
const destroyed = (all: readonly Act[]) => all.flatMap((act) => (act.kind === 'destroy' ? [act.id] : []));
const created = (all: readonly Act[]) => all.flatMap((act) => (act.kind === 'create' ? [act.sourceId] : []));
const quarantined = (all: readonly Act[]) => all.flatMap((act) => (act.kind === 'quarantined' ? [act.id] : []));

describe('the truth table', () => {
  const named = (judged: boolean): Ownership => ({ kind: 'named', judged });
  const untagged = (adopted: boolean, destroyable: boolean): Ownership => ({ kind: 'untagged', adopted, destroyable });
  const rows: readonly [string, Ownership, Act['kind'], Act['kind']][] = [
    ['ours', ours, 'keep', 'destroy'],
    ['named and judged', named(true), 'label', 'destroy'],
    ['named, not judged', named(false), 'keep', 'quarantined'],
    ['untagged', untagged(false, false), 'keep', 'foreign'],
    ['untagged, AllowUntaggedDestroy', untagged(false, true), 'keep', 'destroy'],
    ['untagged, adopted', untagged(true, false), 'label', 'destroy'],
  ];
  it.each(rows)('Law 4: %s: wanted and not wanted', (_, ownership, wanted, unwanted) => {
    const observed = [have('i1', known('k'), { ownership })];
    expect(acts([want('k')], observed).map(({ kind }) => kind)).toEqual([wanted]);
    expect(acts([], observed).map(({ kind }) => kind)).toEqual([unwanted]);
  });

  it('Law 4: an entry of somebody else blocks nobody, even with the key of a member', () => {
    const foreign = have('i1', known('k'), { ownership: { kind: 'foreign', owner: 'other/enrollment/nfs' } });
    expect(acts([want('k')], [foreign])).toEqual([
      { kind: 'create', key: 'k', sourceId: 'k' },
      { kind: 'foreign', id: 'i1', owner: 'other/enrollment/nfs' },
    ]);
  });

  it('Law 4: an untagged entry without a key is foreign and blocks nobody', () => {
    const ownership = untagged(false, true);
    expect(acts([want('k')], [have('i1', unknown('no ID'), { ownership })])).toEqual([
      { kind: 'create', key: 'k', sourceId: 'k' },
      { kind: 'foreign', id: 'i1' },
    ]);
  });

  it('EI-E28: changed content replaces only where asked for, where both are known, and only what is ours', () => {
    const observed = (ownership: Ownership) => [have('i1', known('k'), { content: 'old', ownership })];
    const replace = { onChange: 'replace' } as const;
    const changed = [want('k', known('k'), 'new')];
    expect(acts(changed, observed(ours))).toEqual([{ kind: 'keep', key: 'k', sourceId: 'k', id: 'i1' }]);
    expect(acts(changed, observed(ours), replace)).toEqual([
      { kind: 'replace', key: 'k', sourceId: 'k', id: 'i1', content: 'new' },
    ]);
    expect(acts(changed, observed(named(true)), replace)[0]?.kind).toBe('replace');
    expect(acts(changed, observed(named(false)), replace)[0]?.kind).toBe('keep');
    expect(acts(changed, observed(untagged(true, true)), replace)[0]?.kind).toBe('label');
    expect(acts(changed, [have('i1', known('k'))], replace)[0]?.kind).toBe('keep');
    expect(acts([want('k')], observed(ours), replace)[0]?.kind).toBe('keep');
  });

  it('EI-E15: what is being created is not created again, what is being destroyed is neither matched nor destroyed again', () => {
    expect(acts([want('k')], [], { creating: new Set(['k']) })).toEqual([]);
    const observed = [have('i1', known('k')), have('i2', known('gone'))];
    expect(acts([want('k')], observed, { destroying: new Set(['i1', 'i2']) })).toEqual([
      { kind: 'create', key: 'k', sourceId: 'k' },
    ]);
  });
});

describe('laws 1 and 2: what may destroy', () => {
  const observed = [
    have('i1', known('a')),
    have('i2', known('b')),
    have('i3', known('b')),
    have('i4', unknown('x')),
    have('f', known('a'), { ownership: { kind: 'foreign' } }),
  ];

  it('Law 1: an unknown source plans nothing but the report of foreign entries', () => {
    expect(plan({ source: { kind: 'unknown', reason: 'timeout' }, observed }).acts).toEqual([
      { kind: 'foreign', id: 'f' },
    ]);
  });

  it('Law 1: a partial source creates, and neither destroys, reduces nor replaces', () => {
    const entries = [want('b', known('b'), 'new'), want('c')];
    const partial = plan({
      source: { kind: 'partial', reason: 'page 2 lost', entries },
      observed: [...observed.slice(0, 2), have('i3', known('b'), { content: 'old' })],
      onChange: 'replace',
    });
    expect(partial.acts).toEqual([
      { kind: 'create', key: 'c', sourceId: 'c' },
      { kind: 'keep', key: 'b', sourceId: 'b', id: 'i2' },
      { kind: 'duplicate', key: 'b', id: 'i3', of: 'i2', reduce: false },
    ]);
  });

  it.each([
    [{ target: 0 }, 'target'],
    [{ target: 0, phase: 'destroyed' as const }, 'destroyed'],
  ])('Law 2: a known-empty source %j explains and destroys all that is ours, whatever its key', (facts, reason) => {
    const emptied = plan({ source: { kind: 'known', entries: [], count: 0, ...facts }, observed });
    expect(destroyed(emptied.acts)).toEqual(['i1', 'i2', 'i3', 'i4']);
    expect(emptied.acts.flatMap((act) => (act.kind === 'destroy' ? [act.explained] : []))).toEqual(
      new Array(4).fill({ by: 'empty', reason }),
    );
  });

  it('Law 2: an empty source with a target explains nothing, and an unknown key stays quarantined', () => {
    const { acts: all } = plan({ source: { kind: 'known', entries: [], target: 3, count: 0 }, observed });
    expect(destroyed(all)).toEqual(['i1', 'i2', 'i3']);
    expect(all.some((act) => act.kind === 'destroy' && act.explained !== undefined)).toBe(false);
    expect(quarantined(all)).toEqual(['i4']);
  });

  it('Law 5: a source that drains to 0 but still shows a member leaves an entry with an unknown key alone', () => {
    const source = { kind: 'known', entries: [want('a')], target: 0, count: 1 } as const;
    expect(quarantined(plan({ source, observed }).acts)).toEqual(['i4']);
  });

  it('Law 6: an explanation is carried on the destroy it is for', () => {
    const explain: PlanInput['explain'] = ({ id }) =>
      id === 'i1' ? { by: 'departure', cause: 'scale', revision: 7 } : undefined;
    expect(acts([], observed.slice(0, 2), { explain })).toEqual([
      { kind: 'destroy', id: 'i1', key: 'a', explained: { by: 'departure', cause: 'scale', revision: 7 } },
      { kind: 'destroy', id: 'i2', key: 'b' },
    ]);
  });
});

describe('Law 5: quarantine', () => {
  const badSource = [want('s1', known('a')), want('s2', unknown('no backend_id'))];

  it('while a source key is unknown, owned entries without sourceID stay, those made for others go', () => {
    const all = acts(badSource, [
      have('i1', known('gone')),
      have('i2', known('gone2'), { sourceId: 's9' }),
      have('i3', known('gone3'), { sourceId: 's2' }),
    ]);
    expect(created(all)).toEqual(['s1']);
    expect(destroyed(all)).toEqual(['i2']);
    expect(quarantined(all)).toEqual(['s2', 'i1', 'i3']);
    expect(all.find((act) => act.kind === 'quarantined' && act.id === 's2')).toMatchObject({ reason: 'no backend_id' });
  });

  it('an owned entry with an unknown key withholds only the member it was made for', () => {
    const all = acts([want('s1'), want('s2')], [have('i1', unknown('unreadable'), { sourceId: 's2' })]);
    expect(created(all)).toEqual(['s1']);
    expect(quarantined(all)).toEqual(['s2', 'i1']);
  });

  it('an owned entry with an unknown key that names nobody withholds every unmatched member', () => {
    const all = acts([want('s1'), want('s2')], [have('i1', unknown('unreadable')), have('i2', known('s1'))]);
    expect(created(all)).toEqual([]);
    expect(quarantined(all)).toEqual(['s2', 'i1']);
  });

  it('an owned entry made for the loser of a key withholds the winner too: it may be its entry', () => {
    const entries = [want('s1', known('k')), want('s2', known('k'))];
    expect(created(acts(entries, [have('i1', unknown('unreadable'), { sourceId: 's2' })]))).toEqual([]);
  });

  it('an entry made for the loser of a key stays while that one is quarantined', () => {
    const entries = [want('s1', known('k')), want('s2', known('k'))];
    const all = acts(entries, [have('i1', known('older key'), { sourceId: 's2' })]);
    expect(destroyed(all)).toEqual([]);
    expect(quarantined(all)).toEqual(['s2', 'i1']);
  });

  it('the reason names the first of several, whatever the input order', () => {
    const twice = [have('i2', unknown('x'), { sourceId: 's1' }), have('i1', unknown('x'), { sourceId: 's1' })];
    for (const observed of [twice, [...twice].reverse()]) {
      expect(acts([want('s1')], observed)[0]).toMatchObject({
        reason: 'not created while the key of the existing "i1" is unknown',
      });
    }
  });

  it('one bad member in 1,000 does not withhold 999', () => {
    const entries = Array.from({ length: 1_000 }, (_, index) =>
      want(`s${index}`, index === 5 ? unknown('x') : undefined),
    );
    expect(created(acts(entries, []))).toHaveLength(999);
  });
});

describe('EI-E10: the same key twice', () => {
  it('of source entries the smallest id wins, the others are quarantined and say so', () => {
    const all = acts([want('s2', known('k')), want('s1', known('k')), want('s3', known('k'))], []);
    expect(created(all)).toEqual(['s1']);
    expect(quarantined(all)).toEqual(['s2', 's3']);
    expect(all[1]).toMatchObject({ reason: 'its key is also the key of source "s1", which has the smaller id' });
  });

  it('of enrolled entries the oldest stays, else the smallest id; only what is exactly ours is reduced', () => {
    const twice = (...observed: ObservedEntry[]) =>
      acts([want('k')], observed).filter(({ kind }) => kind !== 'keep' && kind !== 'label');
    const at = (id: string, createdMs?: number, ownership: Ownership = ours) =>
      have(id, known('k'), { ownership, ...(createdMs !== undefined && { createdMs }) });
    expect(twice(at('i1', 20), at('i2', 10), at('i3'))).toEqual([
      { kind: 'duplicate', key: 'k', id: 'i1', of: 'i2', reduce: true },
      { kind: 'duplicate', key: 'k', id: 'i3', of: 'i2', reduce: true },
    ]);
    expect(twice(at('i2'), at('i1'))).toMatchObject([{ id: 'i2', of: 'i1' }]);
    expect(twice(at('i1', 1), at('i2', 2, { kind: 'named', judged: true }))).toMatchObject([
      { id: 'i2', reduce: false },
    ]);
    expect(twice(at('i1', 1), at('i2', 2, { kind: 'untagged', adopted: true, destroyable: true }))).toMatchObject([
      { id: 'i2', reduce: false },
    ]);
  });
});

describe('Law 3: order and id', () => {
  it('lists kinds in a fixed order, and strings as their UTF-8 bytes sort', () => {
    const all = acts(
      [want('\u{1F600}'), want('\uFFFD'), want('a'), want('kept')],
      [have('z', known('kept')), have('b', known('x')), have('a', known('y'))],
    );
    expect(created(all)).toEqual(['a', '\uFFFD', '\u{1F600}']);
    expect(destroyed(all)).toEqual(['a', 'b']);
    expect(all.map(({ kind }) => kind)).toEqual(['create', 'create', 'create', 'keep', 'destroy', 'destroy']);
  });

  it('the id tells plans apart by what they change, not by reports or explanations', () => {
    const idOf = (entries: DesiredEntry[], observed: ObservedEntry[], rest: Partial<PlanInput> = {}) =>
      plan({ source: { kind: 'known', entries }, observed, ...rest }).id;
    expect(idOf([want('a')], [have('i', known('a'))])).toBe(emptyPlanId);
    expect(idOf([], [])).toBe(emptyPlanId);
    const foreign = have('f', known('z'), { ownership: { kind: 'foreign' } });
    expect(idOf([want('a')], [foreign])).toBe(idOf([want('a')], []));
    expect(idOf([want('a')], [])).not.toBe(idOf([want('b')], []));
    expect(idOf([want('a', known('a'), '1')], [])).not.toBe(idOf([want('a', known('a'), '2')], []));
    expect(idOf([want('bc', known('a'))], [])).not.toBe(idOf([want('c', known('ab'))], []));
    const gone = [have('i', known('a'))];
    expect(idOf([], gone, { explain: () => ({ by: 'commit', revision: 2 }) })).toBe(idOf([], gone));
    expect(idOf([], gone)).not.toBe(idOf([], [have('j', known('a'))]));
  });
});
