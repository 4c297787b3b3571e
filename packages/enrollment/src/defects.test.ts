import { describe, expect, test } from 'vitest';
import { cattleNfs, type EnrollmentWorld, enrollmentWorld } from '../../../test/enrollment/world.ts';

const ids = (...list: readonly string[]) => list.map((ID) => ({ ID }));
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `h${String(n).padStart(2, '0')}`);
const tags = (over: Record<string, string>) => ({
  'infrakit.enrollment.owner': 'stack/nfs/cattle-nfs',
  'infrakit.enrollment.name': 'cattle-nfs',
  ...over,
});
const rowsOf = async (w: EnrollmentWorld) => (await w.describe('cattle-nfs'))[0]?.state as readonly unknown[];
const sync = (interval: string) => ({ options: { SyncInterval: interval } });

describe('EI §6.1: enrollment', () => {
  test('E-1, E-29: what a commit starts is found by later calls, with its state and its spec', async () => {
    const w = await enrollmentWorld();
    const spec = cattleNfs({ List: ids('h2', 'h1') });
    await w.commit(spec);
    await w.soon();
    const [object] = await w.describe();
    expect(object?.metadata).toEqual({ name: 'cattle-nfs', id: 'cattle-nfs' });
    expect(object?.state).toEqual([
      { Key: 'h1', Ordinal: 0, State: 'enrolled', Data: { sourceID: 'h1', enrollmentID: 'i-000001' } },
      { Key: 'h2', Ordinal: 1, State: 'enrolled', Data: { sourceID: 'h2', enrollmentID: 'i-000002' } },
    ]);
    expect(await w.controller().spec({ name: 'nfs/cattle-nfs' }, w.ctx)).toEqual({ spec, revision: 1 });
    await w.stop();
  });

  test('E-2: with labels and two rounds, each is provisioned once and the filter is exactly the labels', async () => {
    const w = await enrollmentWorld();
    const spec = cattleNfs({ List: ids('n1', 'n2'), ...sync('1s') });
    const { Instance } = spec.properties as { Instance: object };
    await w.commit({
      ...spec,
      properties: { List: ids('n1', 'n2'), Instance: { ...Instance, Labels: { team: 'ci' } } },
    });
    await w.run(10_000);
    expect(w.writes()).toHaveLength(2);
    expect(w.describes().length).toBeGreaterThan(3);
    for (const one of w.describes()) expect(one).toMatchObject({ tags: { team: 'ci' }, properties: false });
    expect(w.world.all().map(({ Tags }) => Tags)).toEqual([
      { team: 'ci', ...tags({ 'infrakit.enrollment.sourceID': 'n1' }) },
      { team: 'ci', ...tags({ 'infrakit.enrollment.sourceID': 'n2' }) },
    ]);
    await w.stop();
  });

  test('E-3, E-24: everything wrong with a spec comes at once, and nothing of it is kept', async () => {
    const w = await enrollmentWorld();
    const bad = {
      kind: 'enrollment',
      metadata: { name: 'bad' },
      properties: { Lst: [], Instance: { Plugins: 'nfs-auth/disk' } },
      options: { SourceKeySelector: '\\{\\{ now \\}\\}', EnrollmentKeySelector: '\\{\\{ .ID ', SyncInterval: '0s' },
    };
    const refused = w.commit(bad);
    await expect(refused).rejects.toMatchObject({ code: 'SPEC_INVALID' });
    for (const sentence of [
      'properties.Lst: unknown field, did you mean `List`?',
      'properties.Instance.Plugins: unknown field, did you mean `Plugin`?',
      'SyncInterval must be greater than 0',
      'SourceKeySelector: function "now" is not allowed in a key selector',
      'EnrollmentKeySelector: ',
    ]) {
      await expect(refused).rejects.toThrow(sentence);
    }
    expect(await w.describe()).toEqual([]);
    await w.stop();
  });

  test.each([
    ['no properties', undefined, 'missing properties'],
    ['no List', { Instance: { Plugin: 'nfs-auth/disk' } }, 'properties.List is missing'],
    ['no Instance', { List: [] }, 'properties.Instance: missing'],
    ['no Plugin', { List: [], Instance: {} }, 'properties.Instance.Plugin: '],
    ['a Plugin that is no name', { List: [], Instance: { Plugin: 3 } }, 'bad-format-for-name:3'],
    ['a label that is no text', { List: [], Instance: { Plugin: 'a/b', Labels: { n: 1 } } }, 'Labels.n'],
    ['a bad template', { List: [], Instance: { Plugin: 'a/b', Properties: { x: '{{ nope }}' } } }, 'nope'],
  ])('E-21, E-24: %s is refused by commit and plan', async (_, properties, sentence) => {
    const w = await enrollmentWorld();
    const spec = { kind: 'enrollment', metadata: { name: 'bad' }, properties };
    await expect(w.commit(spec)).rejects.toThrow(sentence);
    await expect(w.plan(spec)).rejects.toMatchObject({ code: 'SPEC_INVALID' });
    await w.stop();
  });

  test('a plan over a sink that nothing answers to names it; a commit waits for it', async () => {
    const w = await enrollmentWorld();
    w.withdraw('nfs-auth/disk');
    await expect(w.plan(cattleNfs({ List: ids('h1') }))).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: 'Instance.Plugin nfs-auth/disk: nothing answers to nfs-auth/disk',
    });
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.run();
    expect(w.states.get('cattle-nfs')?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', isTrue: false, reason: expect.stringContaining('nfs-auth/disk') }),
    );
    w.serveSink();
    await w.run(20_000);
    expect(w.enrolled()).toEqual(['h1']);
    await w.stop();
  });

  test('E-4, E-6: DestroyOnTerminate takes only what is ours, retries what fails, and then the name is gone', async () => {
    const w = await enrollmentWorld();
    const foreign = await w.world.addForeign({ 'infrakit.enrollment.name': 'other' });
    const untagged = await w.world.addForeign(null);
    await w.commit(cattleNfs({ List: ids('h1', 'h2'), options: { DestroyOnTerminate: true } }));
    await w.soon();
    let failures = 3;
    w.faults.destroy = () => {
      failures -= 1;
      return failures >= 0 ? { kind: 'error' } : undefined;
    };
    const planned = await w.controller().plan({ operation: 'destroy', spec: cattleNfs() }, w.ctx);
    expect(planned.plan.messages.filter((line) => line.startsWith('destroy'))).toHaveLength(2);
    await w.during(w.controller().destroy({ name: 'cattle-nfs' }, w.ctx));
    expect(w.world.all().map(({ ID }) => ID)).toEqual([foreign, untagged]);
    expect(await w.describe()).toEqual([]);
    expect([...w.storage]).toEqual([]);
    await w.stop();
  });

  test('without DestroyOnTerminate everything is left, and the plan of it says so', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.soon();
    const { plan } = await w.controller().plan({ operation: 'destroy', spec: cattleNfs() }, w.ctx);
    expect(plan.messages).toEqual(['leave everything downstream as it is']);
    const { left } = await w.during(w.controller().destroy({ name: 'cattle-nfs' }, w.ctx));
    expect(left).toBe('1 entry stays in nfs-auth/disk, since DestroyOnTerminate is not set');
    expect(w.world.all()).toHaveLength(1);
    expect(await w.describe()).toEqual([]);
    await w.stop();
  });

  test('E-5: two rules on one sink never touch each other’s entries, with selectors too', async () => {
    const w = await enrollmentWorld();
    const byProperty = '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ $p.host \\}\\}';
    const options = { EnrollmentKeySelector: byProperty, SyncInterval: '1s' };
    await w.commit(cattleNfs({ name: 'a', List: ids('h1', 'h2'), options }));
    await w.commit(cattleNfs({ name: 'b', List: ids('h2', 'h3'), options }));
    await w.run(10_000);
    expect([w.enrolled('a'), w.enrolled('b')]).toEqual([
      ['h1', 'h2'],
      ['h2', 'h3'],
    ]);
    expect(w.writes()).toHaveLength(4);
    await w.stop();
  });

  test('E-7: SyncInterval of the spec is applied', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ List: ids('h1'), ...sync('1s') }));
    await w.run(3_000);
    const often = w.describes().length;
    await w.run(20_000);
    expect(w.describes().length - often).toBeGreaterThan(10);
    await w.commit(cattleNfs({ List: ids('h1'), ...sync('1h') }));
    await w.run(3_000);
    const seldom = w.describes().length;
    await w.run(60_000);
    expect(w.describes().length - seldom).toBe(0);
    await w.stop();
  });

  test('E-9: a source selector without an enrollment selector is translated by the sourceID tag', async () => {
    const w = await enrollmentWorld();
    const keyed = (racks: Readonly<Record<string, string>>) =>
      cattleNfs({
        List: Object.entries(racks).map(([ID, rack]) => ({ ID, Tags: { rack } })),
        options: { SourceKeySelector: '\\{\\{ .Tags.rack \\}\\}' },
      });
    await w.commit(keyed({ a: 'r1', b: 'r2', z: 'r3' }));
    await w.run(30_000);
    expect(w.writes()).toHaveLength(3);
    // The ID of the one that is gone is a key now: its entry is not taken for that of the other.
    await w.commit(keyed({ b: 'r2', z: 'a' }));
    await w.run(30_000);
    expect(w.enrolled()).toEqual(['b', 'z']);
    expect(w.writes()).toHaveLength(4);
    await w.stop();
  });

  test('an old policy that provisions over and over does so now and then, not in a loop', async () => {
    const w = await enrollmentWorld();
    const options = {
      EnrollmentKeySelector: '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ $p.nope \\}\\}',
      EnrollmentParseErrPolicy: 'EnableProvision',
      SyncInterval: '1h',
    };
    await w.commit(cattleNfs({ List: ids('h1'), options }));
    await w.soon();
    const soon = w.writes().length;
    await w.run(60_000);
    expect(w.writes().length - soon).toBeLessThanOrEqual(2);
    await w.stop();
  });

  test('E-10: of two sources with one key the smaller ID has it, the other is named; of duplicates in the sink one stays', async () => {
    const w = await enrollmentWorld();
    const options = { SourceKeySelector: '\\{\\{ .Tags.rack \\}\\}' };
    const List = ['b', 'a'].map((ID) => ({ ID, Tags: { rack: 'r1' } }));
    for (const id of ['x1', 'x2']) {
      w.world.put({
        description: { ID: id, LogicalID: null, Tags: tags({ 'infrakit.enrollment.sourceID': 'a' }) },
        key: undefined,
      });
    }
    await w.commit(cattleNfs({ List, options }));
    await w.soon();
    expect(w.world.all().map(({ ID }) => ID)).toEqual(['x1']);
    expect(await rowsOf(w)).toEqual([
      expect.objectContaining({ Key: 'b', State: 'error' }),
      expect.objectContaining({ Key: 'r1', State: 'enrolled', Data: { sourceID: 'a', enrollmentID: 'x1' } }),
    ]);
    await w.stop();
  });

  test('E-12, E-13, Law 5: entries without a key are named, and block nobody', async () => {
    const w = await enrollmentWorld();
    const List = [{ ID: 'a' }, { ID: 'b' }, { ID: 'c', LogicalID: 'lc' }];
    await w.commit(cattleNfs({ List, options: { SourceKeySelector: '\\{\\{ .LogicalID \\}\\}' } }));
    await w.soon();
    expect(w.enrolled()).toEqual(['c']);
    expect(await rowsOf(w)).toEqual([
      { Key: 'a', Ordinal: 0, State: 'error', Data: { sourceID: 'a', error: expect.stringContaining('<nil>') } },
      { Key: 'b', Ordinal: 1, State: 'error', Data: { sourceID: 'b', error: expect.stringContaining('<nil>') } },
      { Key: 'lc', Ordinal: 2, State: 'enrolled', Data: { sourceID: 'c', enrollmentID: 'i-000001' } },
    ]);
    await w.stop();
  });

  test('Law 5: the entry of a source whose key became unknown stays; EnableDestroy takes it (EI §1.8)', async () => {
    const w = await enrollmentWorld();
    const options = { SourceKeySelector: '\\{\\{ .LogicalID \\}\\}' };
    const list = (logical: string | null) => names(4).map((ID, n) => ({ ID, LogicalID: n === 0 ? logical : `l${n}` }));
    await w.commit(cattleNfs({ List: list('l0'), options }));
    await w.run();
    await w.commit(cattleNfs({ List: list(null), options }));
    await w.run();
    expect(w.enrolled()).toEqual(names(4));
    await w.commit(cattleNfs({ List: list(null), options: { ...options, SourceParseErrPolicy: 'EnableDestroy' } }));
    await w.run();
    expect(w.enrolled()).toEqual(names(4).slice(1));
    await w.stop();
  });

  test('E-15: a sink that shows new entries only rounds later gets each Provision once', async () => {
    const w = await enrollmentWorld();
    w.faults.describe = { kind: 'delay-visibility', describes: 4 };
    await w.commit(cattleNfs({ List: ids('h1', 'h2'), ...sync('1s') }));
    await w.run(15_000);
    expect(w.writes()).toHaveLength(2);
    await w.stop();
  });

  test('E-16, E-20: one that cannot be rendered or provisioned blocks nobody, is tried again and named', async () => {
    const w = await enrollmentWorld();
    const spec = cattleNfs();
    const List = [{ ID: 'a' }, { ID: 'b', Tags: { n: 'say "hi"' } }, { ID: 'c', Tags: { n: 'c' } }];
    w.faults.provision = ({ spec: { Tags } }) =>
      Tags['infrakit.enrollment.sourceID'] === 'c' ? { kind: 'timeout' } : undefined;
    const Instance = { Plugin: 'nfs-auth/disk', Properties: { host: '\\{\\{ .Tags.n \\}\\}' } };
    await w.commit({ ...spec, properties: { List, Instance } });
    await w.run(40_000);
    expect(w.world.all().map(({ Properties }) => Properties)).toEqual([{ host: 'say "hi"' }]);
    expect(await rowsOf(w)).toEqual([
      expect.objectContaining({ Key: 'a', State: 'error' }),
      expect.objectContaining({ Key: 'b', State: 'enrolled' }),
      expect.objectContaining({ Key: 'c', State: 'error' }),
    ]);
    w.faults.provision = undefined;
    await w.run(60_000);
    expect(w.enrolled()).toEqual(['b', 'c']);
    await w.stop();
  });

  test('E-19, E-22: the next spec uses nothing of the one before', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ List: ids('h1'), options: { SourceKeySelector: '\\{\\{ .Tags.nope \\}\\}' } }));
    await w.soon();
    expect(w.enrolled()).toEqual([]);
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.soon();
    expect(w.enrolled()).toEqual(['h1']);
    await w.stop();
  });

  test('E-30: removes-first makes room before it adds', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ List: ids('h1', 'h2'), options: { Order: 'removes-first' } }));
    await w.run();
    await w.commit(cattleNfs({ List: ids('h2', 'h3'), options: { Order: 'removes-first' } }));
    await w.run();
    expect(w.writes().map(({ call }) => call)).toEqual(['provision', 'provision', 'destroy', 'provision']);
    await w.stop();
  });

  test('E-31: a stopped controller leaves no timer behind', async () => {
    const w = await enrollmentWorld();
    for (const name of ['h1', 'h2', 'h3']) await w.commit(cattleNfs({ List: ids(name) }));
    await w.run();
    await w.stop();
    await w.run(100_000);
    expect(w.clock.pending()).toBe(0);
  });

  test.each(['cattle-nfs', 'nfs/cattle-nfs'])(
    'an old entry of this rule, labelled %s without an owner, is relabelled, once all stored specs are back (Law 4)',
    async (label) => {
      const w = await enrollmentWorld();
      await w.commit(cattleNfs({ name: 'other', List: [] }));
      await w.plugin().stop();
      w.world.put({
        description: {
          ID: 'old',
          LogicalID: null,
          Tags: { 'infrakit.enrollment.name': label, 'infrakit.enrollment.sourceID': 'h1' },
        },
        key: undefined,
      });
      await w.restart();
      await w.commit(cattleNfs({ List: ids('h1') }), 5);
      await w.run();
      expect(w.writes()).toEqual([]);
      await w.commit(cattleNfs({ name: 'other', List: [] }), 1);
      await w.run();
      expect(w.writes()).toEqual([{ call: 'label', id: 'old' }]);
      expect(w.enrolled()).toEqual(['h1']);
      await w.stop();
    },
  );
});
