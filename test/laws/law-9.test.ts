import { describe, expect, test } from 'vitest';
import { type Item, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const hostOf = (params: { readonly spec: { readonly Properties: unknown } }): string =>
  (params.spec.Properties as { host: string }).host;

const touched = (law: LawWorld): string[] => law.writes.filter((write) => !write.startsWith('journal'));

const verbs = (law: LawWorld): string[] => touched(law).map((write) => write.split(' ')[0] ?? '');

const version = (content: string, ids = ['a', 'b']): Item[] => ids.map((id) => ({ id, content }));

const contents = (law: LawWorld): string[] =>
  law.world.all().map(({ Tags }) => `${Tags?.['infrakit.enrollment.sourceID']} ${Tags?.content}`);

describe('Law 9: order', () => {
  const change = async (order: 'adds-first' | 'removes-first') => {
    const law = lawWorld({ settings: { order } });
    await law.enroll(items(10));
    law.setSource(known(items(13).slice(3)));
    law.trigger();
    await law.run();
    expect(law.enrolled()).toHaveLength(10);
    return verbs(law);
  };

  test('adds come before removes', async () => {
    expect(await change('adds-first')).toEqual([...Array(3).fill('provision'), ...Array(3).fill('destroy')]);
  });

  test('removes-first turns that round', async () => {
    expect(await change('removes-first')).toEqual([...Array(3).fill('destroy'), ...Array(3).fill('provision')]);
  });
});

describe('Law 9: a remove that is paired with an add waits for its success', () => {
  test('replaced: new ones are there before old ones go', async () => {
    const law = lawWorld({ settings: { onChange: 'replace' } });
    await law.enroll(version('1'));
    law.setSource(known(version('2')));
    law.trigger();
    await law.run();
    expect(contents(law)).toEqual(['a 2', 'b 2']);
    for (const id of ['a', 'b']) {
      const own = touched(law).filter((write) => write.endsWith(` ${id}`));
      expect(own).toEqual([`provision ${id}`, `destroy ${id}`]);
    }
  });

  test.each(['error', 'timeout'] as const)('the add fails (%s): the old one stays until it succeeds', async (kind) => {
    const law = lawWorld({ settings: { onChange: 'replace' } });
    await law.enroll(version('1'));
    law.faults.provision = (params) => (hostOf(params) === 'a' ? { kind } : undefined);
    law.setSource(known(version('2')));
    law.trigger();
    await law.run(15_000);
    expect(contents(law)).toContain('a 1');
    expect(contents(law)).toContain('b 2');
    expect(contents(law)).not.toContain('b 1');
    law.faults.provision = undefined;
    await law.run(60_000);
    expect(contents(law).sort()).toEqual(['a 2', 'b 2']);
  });

  test('removes-first: an old one that cannot be removed is not joined by a new one', async () => {
    const law = lawWorld({ settings: { onChange: 'replace', order: 'removes-first' } });
    await law.enroll(version('1'));
    law.faults.destroy = { kind: 'error' };
    law.setSource(known(version('2')));
    law.trigger();
    await law.run(15_000);
    expect(contents(law)).toEqual(['a 1', 'b 1']);
    law.faults.destroy = undefined;
    await law.run(60_000);
    expect(contents(law)).toEqual(['a 2', 'b 2']);
  });

  test.each([true, false])(
    'the removal fails for a while: the member is never without an entry (keys honoured: %s)',
    async (hasKeys) => {
      let least = Number.POSITIVE_INFINITY;
      const law: LawWorld = lawWorld({
        hasKeys,
        settings: { onChange: 'replace' },
        around: async (_, act) => {
          const answer = await act();
          if (law !== undefined && law.outcomes.length > 0) least = Math.min(least, law.enrolled().length);
          return answer;
        },
      });
      await law.enroll(version('1', ['a']));
      law.trigger();
      await law.run();
      law.faults.destroy = { kind: 'error' };
      law.setSource(known(version('2', ['a'])));
      law.trigger();
      await law.run(20_000);
      law.faults.destroy = undefined;
      await law.run(60_000);
      expect(contents(law)).toEqual(['a 2']);
      expect(least).toBe(1);
      expect(law.world.made()).toBe(2);
    },
  );
});

describe('Law 9: bounded concurrency', () => {
  test.each([1, 4, 16])('never more than %d at once, and as many as that', async (concurrency) => {
    const law = lawWorld({ concurrency });
    law.faults.provision = { kind: 'late', ms: 100 };
    law.faults.destroy = { kind: 'late', ms: 100 };
    law.setSource(known(items(100)));
    law.start();
    await law.run(60_000);
    expect(law.enrolled()).toHaveLength(100);
    law.setSource(known([], { target: 0 }));
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toEqual([]);
    expect(law.load.most).toBe(concurrency);
  });
});

describe('Law 9: failed items back off one by one', () => {
  test('1 s … 5 min with jitter, while the others go on', async () => {
    const law = lawWorld({ timing: { syncIntervalMs: 60_000 } });
    const tries: number[] = [];
    law.faults.provision = (params) => {
      if (hostOf(params) !== 'bad') return undefined;
      tries.push(law.clock.now());
      return { kind: 'error' };
    };
    law.setSource(known([...items(10), { id: 'bad' }]));
    law.start();
    for (let step = 0; step < 40; step += 1) {
      law.setSource(known([...items(10 + step), { id: 'bad' }]));
      law.trigger();
      await law.run(60_000);
      expect(law.enrolled()).toHaveLength(10 + step);
    }
    const gaps = tries.slice(1).map((at, n) => at - (tries[n] ?? 0));
    gaps.forEach((gap, n) => {
      const plain = Math.min(1_000 * 2 ** n, 240_000);
      expect(gap).toBeGreaterThanOrEqual(plain);
      expect(gap).toBeLessThanOrEqual(Math.min(plain * 1.25, 300_000) + 1);
    });
    expect(gaps.length).toBeGreaterThan(12);
    expect(new Set(gaps.slice(9)).size).toBeGreaterThan(1);
  });

  test('a cycle with failures is completed, and names each with its reason as long as it lasts', async () => {
    const law = lawWorld();
    law.faults.provision = (params) => (hostOf(params) === 'h00002' ? { kind: 'error' } : undefined);
    law.setSource(known(items(3)));
    law.start();
    await law.run(300);
    expect(law.last()).toMatchObject({
      kind: 'completed',
      counts: { desired: 3, created: 2, failed: 1, deferred: 0 },
      failures: [{ act: { kind: 'create', sourceId: 'h00002' }, error: { code: 'INSTANCE_FAILED' } }],
    });
    law.trigger();
    await law.run(300);
    expect(law.last()).toMatchObject({ counts: { created: 0, failed: 1, deferred: 1 } });
    law.faults.provision = undefined;
    await law.run(6_000);
    expect(law.last()).toMatchObject({ kind: 'completed', counts: { failed: 0, deferred: 0 }, failures: [] });
    expect(law.memory().backoff.size + law.memory().errors.size).toBe(0);
  });

  test('an act that is no longer planned is forgotten with its failures', async () => {
    const law = lawWorld();
    law.faults.provision = { kind: 'error' };
    law.setSource(known(items(100)));
    law.start();
    await law.run(60_000);
    law.setSource(known([]));
    law.trigger();
    await law.run();
    expect(law.memory().backoff.size + law.memory().errors.size).toBe(0);
  });
});

describe('Law 9: outcomes', () => {
  test('what a cycle did is counted by kind', async () => {
    const law = lawWorld({ settings: { onChange: 'replace' } });
    await law.enroll([...version('1', ['keeps', 'replaced', 'leaves', 'twice'])]);
    const twin = law.world.all().find(({ Tags }) => Tags?.['infrakit.enrollment.sourceID'] === 'twice');
    await law.world.addForeign(twin?.Tags ?? null);
    await law.world.addForeign({ 'infrakit.enrollment.name': 'nfs', 'infrakit.enrollment.sourceID': 'named' });
    await law.world.addForeign({ 'infrakit.enrollment.owner': 'stack/enrollment/other' });
    const wanted = [...version('1', ['keeps', 'twice', 'named', 'new']), ...version('2', ['replaced'])];
    law.setSource(known([...wanted, { id: 'bad', key: null }]));
    law.trigger();
    await law.run(150);
    expect(law.last()).toMatchObject({
      kind: 'completed',
      source: { kind: 'known' },
      held: null,
      failures: [],
      counts: {
        desired: 6,
        observed: 7,
        created: 1,
        labelled: 1,
        replaced: 1,
        destroyed: 2,
        failed: 0,
        deferred: 0,
        quarantined: 1,
        foreign: 1,
      },
    });
  });
});
