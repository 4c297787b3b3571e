import { type Controller, type EventSource, eventInterface } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { cattleNfs, enrollmentWorld } from '../../../test/enrollment/world.ts';
import { enrollmentDefinition } from './enrollment-definition.ts';

const ids = (...list: readonly string[]) => list.map((ID) => ({ ID }));
const environment = enrollmentDefinition.environment ?? {};
const fromEnvironment = (name: string, text: string): object | undefined => environment[name]?.(text);

describe('EI §1.2: the options of the plugin', () => {
  test('E-23: an unusable value of the environment is refused there, which does not end the start', () => {
    const [interval, terminate] = ['INFRAKIT_ENROLLMENT_SYNC_INTERVAL', 'INFRAKIT_ENROLLMENT_DESTROY_ON_TERMINATE'];
    expect(fromEnvironment(interval, '7s')).toEqual({ SyncInterval: '7s' });
    for (const text of ['0s', '-1s', 'soon', '5']) expect(() => fromEnvironment(interval, text)).toThrow();
    for (const text of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
      expect(fromEnvironment(terminate, text)).toEqual({ DestroyOnTerminate: true });
    }
    for (const text of ['0', 'f', 'F', 'FALSE', 'false', 'False']) {
      expect(fromEnvironment(terminate, text)).toEqual({ DestroyOnTerminate: false });
    }
    for (const text of ['yes', '', 'tRUE']) expect(() => fromEnvironment(terminate, text)).toThrow();
  });

  test('3, 4: options of the start are checked as those of a spec are', () => {
    const { options } = enrollmentDefinition;
    expect(options.safeParse({ SyncInterval: '-1s' }).error?.issues[0]?.message).toBe(
      'SyncInterval must be greater than 0',
    );
    expect(options.safeParse({ SourceParseErrPolicy: 'x' }).error?.issues[0]?.message).toBe(
      "SourceParseErrPolicy value 'x' is not supported, valid values: [EnableDestroy DisableDestroy]",
    );
  });

  test('8: a spec goes before the start; what it leaves out is as the plugin was started', async () => {
    const w = await enrollmentWorld({ start: { DestroyOnTerminate: true, SyncInterval: '1h' } });
    const spec = cattleNfs({ List: ids('h1') });
    const { SyncInterval: _, ...options } = spec.options as { SyncInterval: string };
    await w.commit({ ...spec, options });
    await w.run();
    const described = w.describes().length;
    await w.run(60_000);
    expect(w.describes()).toHaveLength(described);
    await w.during(w.controller().destroy({ name: 'cattle-nfs' }, w.ctx));
    expect(w.world.all()).toEqual([]);
    await w.commit({ ...spec, options: { DestroyOnTerminate: false } });
    await w.soon();
    await w.during(w.controller().destroy({ name: 'cattle-nfs' }, w.ctx));
    expect(w.world.all()).toHaveLength(1);
    await w.stop();
  });
});

describe('EI §2: objects and their life', () => {
  test('each rule has an object of its own, which answers for it alone (C-12); both forms of a name are one (C-7)', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ name: 'nfs/a', List: ids('h1') }));
    await w.commit(cattleNfs({ name: 'b', List: ids('h2') }));
    const objects = w
      .plugin()
      .objects()
      .filter(({ description }) => description.name === 'Controller');
    expect(objects.map(({ object }) => object)).toEqual(['', 'a', 'b']);
    expect(w.objectsChanged()).toBeGreaterThanOrEqual(2);
    const view = w.controller('a');
    expect((await view.describe({ search: {} }, w.ctx)).objects.map(({ metadata }) => metadata.name)).toEqual(['a']);
    await expect(view.commit({ spec: cattleNfs({ name: 'b', List: [] }), revision: 9 }, w.ctx)).rejects.toMatchObject({
      code: 'RULE_NOT_FOUND',
    });
    await w.during(w.controller('b').destroy({ name: 'b' }, w.ctx));
    expect(
      w
        .plugin()
        .objects()
        .map(({ object }) => object),
    ).not.toContain('b');
    await w.stop();
  });

  test('C-1, EI §7: free, scale, commit again: no change while freed, converges after the commit; twice is no error', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 5);
    await w.commit(cattleNfs());
    await w.soon();
    const free = () => w.during(w.controller().free({ name: 'cattle-nfs' }, w.ctx));
    await free();
    await free();
    await w.scale('cattle', 9);
    await w.run(30_000);
    expect(w.enrolled()).toHaveLength(5);
    await w.commit(cattleNfs());
    await w.soon();
    expect(w.enrolled()).toEqual(w.machines.members('cattle'));
    await w.stop();
  });

  test('C-3, C-4: a commit during a slow round waits for it, and makes nothing twice', async () => {
    const w = await enrollmentWorld();
    w.faults.provision = { kind: 'late', ms: 5_000 };
    await w.commit(cattleNfs({ List: ids('h1', 'h2') }));
    await w.clock.advance(50);
    await w.commit(cattleNfs({ List: ids('h1', 'h2', 'h3') }));
    await w.run(30_000);
    expect(w.enrolled()).toEqual(['h1', 'h2', 'h3']);
    expect(w.world.made()).toBe(3);
    await w.stop();
  });

  test('EI §7: a commit with a bad policy is refused, the old rule still converges', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 3);
    await w.commit(cattleNfs());
    await w.soon();
    await expect(w.commit(cattleNfs({ options: { SourceParseErrPolicy: 'x' } }))).rejects.toThrow('not supported');
    await w.scale('cattle', 6);
    await w.soon();
    expect(w.enrolled()).toHaveLength(6);
    await w.stop();
  });

  test('P-1: a sink that fails for a while does not end the loop', async () => {
    const w = await enrollmentWorld();
    w.faults.describe = { kind: 'error' };
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.run(60_000);
    w.faults.describe = undefined;
    await w.run(120_000);
    expect(w.enrolled()).toEqual(['h1']);
    await w.stop();
  });

  test('Law 11: after a restart, with its spec given back, nothing is made twice and nothing is taken', async () => {
    const w = await enrollmentWorld();
    await w.makeGroup('cattle', 10);
    await w.commit(cattleNfs(), 3);
    await w.soon();
    const before = w.world.all();
    await w.restart();
    await w.run(20_000);
    expect(w.world.all()).toEqual(before);
    await w.commit(cattleNfs(), 3);
    await w.run(20_000);
    expect(w.world.all()).toEqual(before);
    expect(w.writes()).toHaveLength(10);
    await w.stop();
  });

  test('§1.11: the plan says what would be done, and why nothing is', async () => {
    const w = await enrollmentWorld();
    await w.world.addForeign({ 'infrakit.enrollment.name': 'other' });
    await w.commit(cattleNfs({ List: ids('h1', 'h2') }));
    await w.soon();
    const { messages } = await w.plan(cattleNfs({ List: [{ ID: 'h2' }, { ID: 'h3' }] }));
    expect(messages).toEqual([
      'provision h3 (key h3)',
      'destroy i-000002 (key h1): left by the commit of revision 2',
      'leave 1 that are not ours',
    ]);
    expect((await w.plan(cattleNfs({ List: [] }))).messages[0]).toBe('the source is empty: 2 of ours go');
    expect((await w.plan(cattleNfs({ List: 'group/nobody' }))).messages[0]).toBe(
      'the source is unknown: nothing answers to group/nobody',
    );
    const { warnings } = await w.plan(
      cattleNfs({ List: 'group/nobody', options: { SourceKeySelector: '.Properties.id' } }),
    );
    expect(warnings).toHaveLength(2);
    await w.stop();
  });

  test('explain and adopt: an untagged entry counts as enrolled, is never destroyed by itself, and can be taken over', async () => {
    const w = await enrollmentWorld();
    const id = await w.world.addForeign({ 'infrakit.enrollment.sourceID': 'h1' });
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.run();
    expect(w.writes()).toEqual([]);
    const controller: Controller = w.controller();
    expect((await controller.explain({ name: 'cattle-nfs', entry: id }, w.ctx)).lines).toEqual([
      `keep ${id}: wanted, and there`,
    ]);
    expect(await controller.adopt({ name: 'cattle-nfs' }, w.ctx)).toEqual({ adopted: [id] });
    expect(w.enrolled()).toEqual(['h1']);
    await w.stop();
  });
});

describe('EI §5.2, §5.5: events', () => {
  test('each act, each cycle that did something and each new error is told once', async () => {
    const w = await enrollmentWorld();
    const told = () => w.published.splice(0).map(({ Topic, ID, Data, Error: error }) => [Topic, ID, Data, error]);
    await w.commit(cattleNfs({ List: ids('h1') }));
    await w.run(20_000);
    expect(told()).toEqual([
      ['cattle-nfs/provision', 'cattle-nfs/h1', { key: 'h1', sourceID: 'h1', enrollmentID: 'i-000001' }, undefined],
      ['cattle-nfs/sync', 'cattle-nfs/', { source: 1, enrolled: 0, added: 1, removed: 0, failed: 0 }, undefined],
      ['cattle-nfs/sync', 'cattle-nfs/', { source: 1, enrolled: 1, added: 0, removed: 0, failed: 0 }, undefined],
    ]);
    w.faults.destroy = { kind: 'error' };
    await w.commit(
      cattleNfs({
        List: [{ ID: 'h2', LogicalID: 'l' }, { ID: 'h3' }],
        options: { SourceKeySelector: '{{ .LogicalID }}' },
      }),
    );
    await w.clock.advance(900);
    expect(told().map(([topic, id]) => [topic, id])).toEqual([
      ['cattle-nfs/provision', 'cattle-nfs/l'],
      ['cattle-nfs/error/destroy', 'cattle-nfs/h1'],
      ['cattle-nfs/parse/source', 'cattle-nfs/h3'],
      ['cattle-nfs/sync', 'cattle-nfs/'],
      ['cattle-nfs/sync', 'cattle-nfs/'],
    ]);
    w.faults.describe = { kind: 'error' };
    await w.run(120_000);
    expect(told().filter(([topic]) => topic === 'cattle-nfs/error/sync')).toHaveLength(1);
    await w.stop();
  });

  test('the topics there are can be listed', async () => {
    const w = await enrollmentWorld();
    await w.commit(cattleNfs({ List: [] }));
    const found = w
      .plugin()
      .objects()
      .find(({ description }) => description.name === eventInterface.name);
    const source = found?.implementation as EventSource;
    const list = async (topic: string) => (await source.list({ topic }, w.ctx)).nodes;
    expect(await list('.')).toEqual(['cattle-nfs']);
    expect(await list('cattle-nfs')).toEqual(['destroy', 'error', 'parse', 'provision', 'sync']);
    expect(await list('cattle-nfs/error/')).toEqual(['destroy', 'provision', 'sync']);
    expect(await list('cattle-nfs/sync')).toEqual([]);
    expect(await list('nobody')).toBeNull();
    await w.stop();
  });
});
