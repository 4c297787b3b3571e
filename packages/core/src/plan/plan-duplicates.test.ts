import { expect, test } from 'vitest';
import type { ObservedEntry, Ownership } from './entry.ts';
import { plan } from './plan.ts';

const entry = (id: string, ownership: Ownership, facts: Partial<ObservedEntry> = {}): ObservedEntry => ({
  id,
  key: { kind: 'known', value: 'h1' },
  ownership,
  ...facts,
});

const kept = (observed: readonly ObservedEntry[]): string[] =>
  plan({
    source: { kind: 'known', entries: [{ id: 'h1', key: { kind: 'known', value: 'h1' }, content: 'new' }] },
    observed,
    onChange: 'replace',
  }).acts.flatMap((act) => (act.kind === 'keep' ? [act.id] : []));

test('Law 4: of two entries with one key ours is kept, not an older one that nobody tagged', () => {
  const untagged: Ownership = { kind: 'untagged', adopted: false, destroyable: false };
  expect(kept([entry('a', untagged, { createdMs: 1 }), entry('b', { kind: 'ours' }, { createdMs: 2 })])).toEqual(['b']);
});

test('Law 9: a replacement that was made but whose predecessor is still there is not undone for its age', () => {
  const old = entry('a', { kind: 'ours' }, { createdMs: 1, content: 'old' });
  const young = entry('b', { kind: 'ours' }, { createdMs: 2, content: 'new' });
  expect(kept([old, young])).toEqual(['b']);
  expect(kept([young, old])).toEqual(['b']);
});
