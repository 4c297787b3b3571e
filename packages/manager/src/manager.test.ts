import { AppError, type Spec } from '@infrakit/core';
import { type VirtualClock, virtualClock } from '@infrakit/runtime';
import {
  type Controller,
  type Group,
  type InterfaceDescription,
  memoryController,
  memoryDisk,
  memoryGroup,
  memoryStore,
  type Plugins,
  type Presence,
  type SpiOf,
  testingContext,
} from '@infrakit/spi';
import { BehaviorSubject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { sizeOf as sizeOfSpec, withSize } from './group-size.ts';
import { startManager } from './manager.ts';
import { managerController } from './manager-controller.ts';
import { managerGroup } from './manager-group.ts';
import { managerObjects } from './manager-objects.ts';
import { ManagerOptions } from './manager-options.ts';
import { openSpecBook } from './spec-book.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ctx = testingContext();
const options = ManagerOptions.parse({ Controllers: ['nfs'] });

const groupSpec = (name: string, Size: number, note = 'a'): Spec => ({
  kind: 'group',
  metadata: { name, tags: { project: 'e2e' } },
  properties: {
    Allocation: { Size },
    Instance: { Plugin: 'simulator/compute', Properties: { note } },
    Flavor: { Plugin: 'vanilla' },
  },
});

const rule = (name: string, list: readonly string[]): Spec => ({
  kind: 'enrollment',
  metadata: { name },
  properties: { List: list },
});

/** A plugin that can be away, lose answers, or be started anew. */
const place = <C extends object>(plugin: string, make: () => C) => {
  let at = make();
  let count = 0;
  const calls: string[] = [];
  const presence = new BehaviorSubject<Presence>({ kind: 'offline', reason: 'not started' });
  let loses: string | null = null;
  let refuses: string | null = null;
  const online = (): void => {
    count += 1;
    presence.next({ kind: 'online', plugin, incarnation: `${plugin}.${count}`, interfaces: [] });
  };
  const handle = new Proxy({} as C, {
    get: (_, method: string) => async (params: unknown, callCtx: unknown) => {
      if (presence.value.kind === 'offline') throw new AppError('PLUGIN_UNAVAILABLE', `${plugin} is away`);
      calls.push(method);
      if (refuses === method) throw new AppError('GROUP_INVALID', `${plugin} refuses ${method}`);
      const call = (at as Record<string, (params: unknown, ctx: unknown) => Promise<unknown>>)[method];
      const answer = await call?.(params, callCtx);
      if (loses === method) throw new AppError('RPC_TIMEOUT', `the answer to ${method} is lost`);
      return answer;
    },
  });
  return {
    handle,
    presence,
    calls,
    online,
    away: () => presence.next({ kind: 'offline', reason: 'stopped' }),
    restart: () => {
      at = make();
      online();
    },
    lose: (method: string | null) => {
      loses = method;
    },
    refuse: (method: string) => {
      refuses = method;
    },
    direct: () => at,
  };
};

const stack = async (disk = memoryDisk(), clock: VirtualClock = virtualClock()) => {
  const groups = place<Group>('group', () => memoryGroup().group);
  const nfs = place<Controller>('nfs', () => memoryController().controller);
  const places: Record<string, { handle: unknown; presence: BehaviorSubject<Presence> }> = { group: groups, nfs };
  const plugins: Plugins = {
    resolve: <I extends InterfaceDescription>(_: I, name: string) => places[name]?.handle as SpiOf<I>,
    watch: (name) => places[name]?.presence ?? new BehaviorSubject<Presence>({ kind: 'offline', reason: 'unknown' }),
  };
  const start = async () => {
    const book = await openSpecBook(memoryStore(disk), log, ctx);
    const deps = { name: 'mystack', options, book, plugins, clock, random: () => 0.5, log, objectsChanged: () => {} };
    const manager = startManager(deps);
    const controller = managerController(manager, 'group', 'mystack');
    return { manager, controller, group: managerGroup(manager, 'group', controller), book };
  };
  groups.online();
  nfs.online();
  await clock.advance(0);
  return { ...(await start()), start, groups, nfs, disk, clock };
};

const sizeOf = async ({ direct }: { direct: () => Group }, name: string): Promise<number> =>
  (await direct().size({ name }, ctx)).size;

describe('a manager', () => {
  test('validates, stores, then acts; the object is the state after, with its tags (GP-M14, GP-M19, GP-M15)', async () => {
    const { controller, groups, book } = await stack();
    const { object } = await controller.commit({ spec: groupSpec('miners', 5), revision: 1 }, ctx);
    expect(object.metadata).toMatchObject({ name: 'mystack/miners', tags: { project: 'e2e' } });
    expect(await sizeOf(groups, 'miners')).toBe(5);
    expect(book.find('group', 'miners')).toMatchObject({ phase: 'committed', spec: { metadata: { name: 'miners' } } });
  });

  test('GP-M7: a refused commit changes nothing anywhere, also after a restart', async () => {
    const { controller, groups, disk, start } = await stack();
    await controller.commit({ spec: groupSpec('miners', 5), revision: 1 }, ctx);
    const before = JSON.stringify([...disk.records.values()].map(({ text }) => text));
    const bad = { ...groupSpec('miners', 5), properties: { Allocation: { Size: -1 } } };
    await expect(controller.commit({ spec: bad, revision: 1 }, ctx)).rejects.toMatchObject({ code: 'GROUP_INVALID' });
    expect(JSON.stringify([...disk.records.values()].map(({ text }) => text))).toBe(before);
    await expect(
      controller.commit({ spec: { ...bad, metadata: { name: 'new' } }, revision: 1 }, ctx),
    ).rejects.toThrow();
    expect((await start()).book.all().map(({ name }) => name)).toEqual(['miners']);
    expect(await sizeOf(groups, 'miners')).toBe(5);
  });

  test('GP-M5: `x` and `mystack/x` are one record', async () => {
    const { controller, book } = await stack();
    await controller.commit({ spec: groupSpec('x', 1), revision: 1 }, ctx);
    await controller.commit({ spec: groupSpec('mystack/x', 2), revision: 1 }, ctx);
    expect(book.all()).toHaveLength(1);
    expect(book.find('group', 'x')?.spec.metadata.name).toBe('x');
  });

  test('a target that is away refuses a commit at once and stores nothing (GP-M12)', async () => {
    const { manager, nfs, book } = await stack();
    nfs.away();
    await expect(manager.commit('nfs', rule('a', ['x']), ctx)).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
    expect(book.all()).toEqual([]);
  });

  test('a commit whose answer is lost is pending, kept, and told again until it is taken', async () => {
    const { manager, nfs, book, clock } = await stack();
    nfs.lose('commit');
    await expect(manager.commit('nfs', rule('a', ['x']), ctx)).rejects.toMatchObject({ code: 'COMMIT_PENDING' });
    expect(book.find('nfs', 'a')?.phase).toBe('pending');
    nfs.lose(null);
    await clock.advance(60_000);
    expect(book.find('nfs', 'a')?.phase).toBe('committed');
    expect(clock.pending()).toBe(0);
  });

  test('T4 of GP §4.7: each new incarnation of a target gets its specs again, by name', async () => {
    const { controller, groups, clock } = await stack();
    await controller.commit({ spec: groupSpec('workers', 2), revision: 1 }, ctx);
    await controller.commit({ spec: groupSpec('managers', 3), revision: 1 }, ctx);
    groups.restart();
    await clock.advance(10);
    expect([await sizeOf(groups, 'managers'), await sizeOf(groups, 'workers')]).toEqual([3, 2]);
  });

  test('GP-M11: a spec that is never taken is retried with growing pauses, not in a loop, and blocks no other', async () => {
    const { manager, nfs, clock } = await stack();
    await manager.commit('nfs', rule('a', ['x']), ctx);
    await manager.commit('nfs', rule('b', ['y']), ctx);
    nfs.lose('commit');
    nfs.calls.length = 0;
    nfs.restart();
    await clock.advance(60_000);
    const tries = nfs.calls.filter((method) => method === 'commit').length;
    expect(tries).toBeGreaterThan(4);
    expect(tries).toBeLessThan(30);
    await manager.stop();
  });

  test('GP-M8: destroyed members lower the stored size, also after a restart of everything', async () => {
    const { group, groups, book, disk } = await stack();
    await group.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    const answer = await groups.direct().members({ name: 'cattle' }, ctx);
    const [first] = answer.kind === 'members' ? answer.members : [];
    expect(await group.destroyInstances({ name: 'mystack/cattle', instances: [first?.ID ?? ''] }, ctx)).toEqual({
      size: 2,
    });
    expect(book.find('group', 'cattle')?.spec.properties).toMatchObject({ Allocation: { Size: 2 } });
    const again = await stack(disk);
    await again.clock.advance(10);
    expect(await sizeOf(again.groups, 'cattle')).toBe(2);
  });

  test('GP-G4: one id that is no member refuses the whole call, and the stored size stays', async () => {
    const { group, book } = await stack();
    await group.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    await expect(group.destroyInstances({ name: 'cattle', instances: ['nobody'] }, ctx)).rejects.toMatchObject({
      code: 'MEMBER_UNKNOWN',
    });
    expect(book.find('group', 'cattle')?.spec.properties).toMatchObject({ Allocation: { Size: 3 } });
  });

  test('GP-M21: sizes set at the same time are set one after the other; GP-G3: twice the same is no error', async () => {
    const { group, groups, book } = await stack();
    await group.commit({ spec: groupSpec('cattle', 10), revision: 1 }, ctx);
    const answers = await Promise.all([20, 20, 8].map((size) => group.setSize({ name: 'cattle', size }, ctx)));
    expect(answers).toEqual([
      { before: 10, after: 20 },
      { before: 20, after: 20 },
      { before: 20, after: 8 },
    ]);
    expect(await sizeOf(groups, 'cattle')).toBe(8);
    expect(book.find('group', 'cattle')?.spec.properties).toMatchObject({ Allocation: { Size: 8 } });
  });

  test('fields of a spec in any case: the size is changed where it stands, and nothing else', () => {
    const spec: Spec = {
      ...groupSpec('cattle', 3),
      properties: { ALLOCATION: { size: 3 }, instance: { Plugin: 'a' } },
    };
    expect(withSize(spec, 4).properties).toEqual({ ALLOCATION: { size: 4 }, instance: { Plugin: 'a' } });
    expect(sizeOfSpec(spec)).toBe(3);
    const pets: Spec = { ...spec, properties: { Allocation: { LogicalIDs: ['a', 'b'] } } };
    expect(sizeOfSpec(pets)).toBe(2);
    expect(() => withSize(pets, 1)).toThrow('cannot set size when logical ids are explicitly set');
  });

  test('GP-M9: a freed group keeps its spec and stays freed after a restart', async () => {
    const { controller, groups, book, clock } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    await controller.free({ name: 'mystack/cattle' }, ctx);
    expect(book.find('group', 'cattle')?.phase).toBe('freed');
    groups.calls.length = 0;
    groups.restart();
    await clock.advance(10);
    expect(groups.calls).toEqual(['commit', 'free']);
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    expect(book.find('group', 'cattle')?.phase).toBe('committed');
  });

  test('EI-M-1, GP-G10: a destroy that its target does not finish stays stored and is finished later', async () => {
    const { controller, groups, book, clock } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    groups.lose('destroy');
    await expect(controller.destroy({ name: 'cattle' }, ctx)).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
    expect(book.find('group', 'cattle')?.phase).toBe('destroying');
    groups.lose(null);
    await clock.advance(60_000);
    expect(book.all()).toEqual([]);
  });

  test('DESIGN §5: a destroy or a free that its target cannot hear is stored and pending, and done when it is back; a scale does not undo it', async () => {
    const { controller, group, groups, book, clock } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    await controller.commit({ spec: groupSpec('miners', 3), revision: 1 }, ctx);
    groups.away();
    const pending = (what: string) => ({
      code: 'COMMIT_PENDING',
      message: `the ${what} is stored; group has not done it yet: group is away`,
    });
    await expect(controller.destroy({ name: 'cattle' }, ctx)).rejects.toMatchObject(pending('destroy of cattle'));
    await expect(controller.free({ name: 'miners' }, ctx)).rejects.toMatchObject(pending('free of miners'));
    await expect(group.setSize({ name: 'cattle', size: 5 }, ctx)).rejects.toThrow('cattle is being destroyed');
    expect(book.all().map(({ name, phase }) => [name, phase])).toEqual([
      ['cattle', 'destroying'],
      ['miners', 'freed'],
    ]);
    groups.restart();
    await clock.advance(60_000);
    expect(book.all().map(({ name, phase }) => [name, phase])).toEqual([['miners', 'freed']]);
  });

  test('EI-M-4: a destroy that is asked for again and again writes once, and hurries nobody', async () => {
    const { controller, groups, clock, disk } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    groups.lose('destroy');
    await expect(controller.destroy({ name: 'cattle' }, ctx)).rejects.toThrow('is lost');
    await clock.advance(0);
    groups.calls.length = 0;
    const stored = JSON.stringify([...disk.records]);
    for (let n = 0; n < 20; n += 1) await expect(controller.destroy({ name: 'cattle' }, ctx)).rejects.toThrow();
    await clock.advance(0);
    expect(new Set(groups.calls)).toEqual(new Set(['destroy']));
    expect(JSON.stringify([...disk.records])).toBe(stored);
  });

  test('a free that its target refuses for good is not stored', async () => {
    const { controller, groups, book } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    groups.refuse('free');
    await expect(controller.free({ name: 'cattle' }, ctx)).rejects.toMatchObject({ code: 'GROUP_INVALID' });
    expect(book.find('group', 'cattle')?.phase).toBe('committed');
  });

  test('a destroyed group goes on answering to its name while a stored spec names it, also after a restart (Law 2)', async () => {
    const { manager, controller, group, disk, start } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    const reader: Spec = { ...rule('grants', []), properties: { Source: 'mystack/cattle' } };
    await manager.commit('nfs', reader, ctx);
    await controller.destroy({ name: 'cattle' }, ctx);
    const namesOf = (of: typeof manager) =>
      managerObjects(of, { name: 'mystack', options }).map(({ proxyFor }) => proxyFor);
    expect(namesOf(manager)).toContain('group/cattle');
    expect(namesOf((await start()).manager)).toContain('group/cattle');
    await expect(group.setSize({ name: 'cattle', size: 5 }, ctx)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
    expect(await controller.destroy({ name: 'cattle' }, ctx)).toEqual({ objects: [] });
    await manager.destroy('nfs', 'grants', ctx);
    expect(namesOf(manager)).not.toContain('group/cattle');
    expect([...disk.records.keys()]).toEqual([]);
  });

  test('a destroyed group that no spec names any more leaves nothing; committed again it is a group again', async () => {
    const { manager, controller, groups, book } = await stack();
    const reader = (Source: string): Spec => ({ ...rule('grants', []), properties: { Source } });
    await controller.commit({ spec: groupSpec('cattle', 3), revision: 1 }, ctx);
    await manager.commit('nfs', reader('group/cattle'), ctx);
    await controller.destroy({ name: 'cattle' }, ctx);
    await controller.commit({ spec: groupSpec('cattle', 4), revision: 1 }, ctx);
    expect(await sizeOf(groups, 'cattle')).toBe(4);
    await controller.destroy({ name: 'cattle' }, ctx);
    expect(book.find('group', 'cattle')?.phase).toBe('destroyed');
    await manager.commit('nfs', reader('group/other'), ctx);
    expect(book.find('group', 'cattle')).toBeUndefined();
  });

  test('a name that stands for something else in the stack is refused; an unknown one is told', async () => {
    const { controller, group } = await stack();
    await expect(controller.commit({ spec: groupSpec('nfs', 1), revision: 1 }, ctx)).rejects.toMatchObject({
      code: 'NAME_INVALID',
    });
    await expect(group.setSize({ name: 'nobody', size: 1 }, ctx)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
    await expect(controller.free({ name: 'nobody' }, ctx)).rejects.toMatchObject({ code: 'GROUP_NOT_FOUND' });
  });

  test('its objects: the stack, groups, each group, each controller, each rule, with what they stand for', async () => {
    const { manager, controller } = await stack();
    await controller.commit({ spec: groupSpec('cattle', 1), revision: 1 }, ctx);
    await manager.commit('nfs', rule('grants', ['x']), ctx);
    const objects = managerObjects(manager, { name: 'mystack', options });
    const named = objects.map(
      ({ object, description, proxyFor }) => `${object} ${description.name} ${proxyFor ?? '-'}`,
    );
    expect(named).toEqual([
      ' Metadata -',
      'groups Controller -',
      'groups Group -',
      'nfs Controller nfs',
      'cattle Controller group/cattle',
      'cattle Group group/cattle',
      'nfs/grants Controller nfs/grants',
    ]);
  });
});
