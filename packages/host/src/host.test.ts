import { access, mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { metadataInterface } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { startToys, until, withHome } from '../../../test/host/toy-host.ts';
import { toyWorld } from '../../../test/host/toy-kinds.ts';
import { readBrokerRecord } from './broker-json.ts';
import { processInterface, processPlugin } from './process-control.ts';

const ctx = () => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('what a plugin is given', () => {
  it('a folder of its own, a journal that lasts, one stack id for every start, live objects', () =>
    withHome(async (home) => {
      let stackId: string;
      {
        await using host = await startToys(['toy:a', 'leader'], home);
        const deps = host.given.get('a');
        expect(await deps?.stateDir()).toBe(join(home, 'toy', 'a'));
        expect(await exists(join(home, 'toy', 'a'))).toBe(true);
        await deps?.journal.write({ key: 'k', value: 1 }, ctx());
        stackId = host.stackId;
        expect(deps?.stackId).toBe(stackId);
        expect(await host.bus.plugins.resolve(metadataInterface, 'a').get({ path: 'greeting' }, ctx())).toEqual({
          found: true,
          value: 'hello',
        });
        host.setObjects('a', ['', 'extra']);
        const extra = host.bus.plugins.resolve(metadataInterface, 'a/extra');
        expect(await extra.get({ path: 'greeting' }, ctx())).toEqual({ found: true, value: 'hello' });
      }
      await using again = await startToys(['toy:a'], home);
      expect(again.stackId).toBe(stackId);
      expect(await again.given.get('a')?.journal.read({ key: 'k' }, ctx())).toEqual({ found: true, value: 1 });
    }));

  it('without a home nothing is kept and everything works', async () => {
    await using host = await startToys(['toy', 'leader'], null);
    expect(await host.given.get('toy')?.stateDir()).toBeNull();
    const { record } = (await host.given.get('toy')?.store.read({ key: 'x' }, ctx())) ?? {};
    expect(record).toBeNull();
    expect(host.status().plugins.map(({ name, role }) => `${name} ${role}`)).toEqual(['toy active', 'leader active']);
  });

  it('the store of a home goes to one process at a time', () =>
    withHome(async (home) => {
      await using first = await startToys(['toy:a'], home);
      await using second = await startToys(['toy:b'], home);
      await first.given.get('a')?.store.write({ key: 'spec', value: 1 }, ctx());
      await expect(second.given.get('b')?.store.list({ prefix: '' }, ctx())).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
      await first.stop();
      await using third = await startToys(['toy:c'], home);
      const { record } = (await third.given.get('c')?.store.read({ key: 'spec' }, ctx())) ?? {};
      expect(record?.value).toBe(1);
    }));
});

describe('start and end of a host', () => {
  it('plugins start in order and end in the reverse; the record and the socket are gone', () =>
    withHome(async (home) => {
      const host = await startToys(['toy:a', 'leader:b', 'toy:c'], home);
      expect(await readBrokerRecord(home)).toEqual({
        kind: 'embedded',
        url: host.url,
        socket: join(home, 'broker.sock'),
        pid: process.pid,
        prefix: 'infrakit',
      });
      await host.stop();
      await host.stopped;
      expect(host.calls).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
      expect(await readBrokerRecord(home)).toBeUndefined();
      expect(await exists(join(home, 'broker.sock'))).toBe(false);
    }));

  it('GP-L1: an unknown kind, or a name twice, is refused before anything is made', () =>
    withHome(async (home) => {
      await expect(startToys(['toy', 'leder'], home)).rejects.toMatchObject({
        code: 'PLUGIN_KIND_UNKNOWN',
        message: expect.stringContaining('did you mean leader?'),
      });
      await expect(startToys(['toy:x', 'leader:x'], home)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
      expect(await exists(home)).toBe(false);
    }));

  it('GP-L1: when one plugin does not start, those before it are stopped and everything is free again', () =>
    withHome(async (home) => {
      const world = toyWorld();
      await expect(startToys(['toy:a', 'failing', 'toy:c'], home, { world })).rejects.toThrow('no such luck');
      expect(world.calls).toEqual(['start a', 'start failing', 'stop a']);
      expect(await readBrokerRecord(home)).toBeUndefined();
      await using again = await startToys(['toy:a', 'toy:failing'], home);
      expect(again.broker).toBe('embedded');
    }));

  it('Law 10: a plugin that does not stop holds up nobody for ever', () =>
    withHome(async (home) => {
      const host = await startToys(['toy:a', 'hanging'], home);
      const startedAt = performance.now();
      await host.stop();
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect(host.calls).toEqual(['start a', 'start hanging', 'stop hanging', 'stop a']);
      expect(host.lines).toContainEqual(
        expect.objectContaining({ level: 'warn', message: 'the plugin did not stop in order' }),
      );
    }));

  it('a home that cannot be one is a sentence', () =>
    withHome(async (home) => {
      await mkdir(dirname(home), { recursive: true });
      await writeFile(home, '');
      await expect(startToys(['toy'], home)).rejects.toMatchObject({ code: 'HOME_INVALID' });
      await expect(startToys(['toy'], join(home, 'below'))).rejects.toMatchObject({
        code: 'HOME_INVALID',
        message: expect.stringMatching(/cannot be the home: .*; set INFRAKIT_HOME/),
      });
    }));

  it('a socket path over 100 bytes is replaced by a short one, which broker.json tells (DESIGN §3)', () =>
    withHome(async (home) => {
      const deep = join(home, 'd'.repeat(120));
      await using host = await startToys(['toy'], deep);
      const { socket } = (await readBrokerRecord(deep)) ?? {};
      expect(Buffer.byteLength(socket ?? '')).toBeLessThanOrEqual(100);
      await using second = await startToys(['toy:b'], deep);
      expect([host.broker, second.broker]).toEqual(['embedded', 'joined']);
    }));
});

describe('two hosts of one home (DESIGN §3)', () => {
  it('of two that start at once exactly one has the broker, the other joins it, with one stack id', () =>
    withHome(async (home) => {
      const [first, second, third] = await Promise.all([
        startToys(['toy:a'], home),
        startToys(['toy:b'], home),
        startToys(['toy:c'], home),
      ]);
      try {
        expect([first.broker, second.broker, third.broker].sort()).toEqual(['embedded', 'joined', 'joined']);
        expect(new Set([first.stackId, second.stackId, third.stackId]).size).toBe(1);
        await until(() => first.bus.registry.active('b') !== undefined, 'b is not on the bus');
        const { get } = first.bus.plugins.resolve(metadataInterface, 'b');
        expect(await get({ path: 'greeting' }, ctx())).toMatchObject({ found: true });
      } finally {
        await Promise.all([first, second, third].map((host) => host.stop()));
      }
    }));

  it.each(['toy', 'leader'])(
    'a name of kind %s that is in use is refused, naming host and pid; nothing is left',
    (kind) =>
      withHome(async (home) => {
        await using first = await startToys([`${kind}:x`], home);
        const world = toyWorld();
        await expect(startToys(['toy:y', `${kind}:x`], home, { world })).rejects.toMatchObject({
          code: 'PLUGIN_CLAIMED',
          message: `x is run by process ${process.pid} on ${hostname()} already`,
        });
        expect(world.calls).toEqual(['start y', 'stop y']);
        expect(first.status().plugins).toHaveLength(1);
      }),
  );

  it('a name in use on the bus by a process of another home is refused too', () =>
    withHome(async (home) => {
      await using first = await startToys(['leader:x', 'toy:z'], home);
      const { socket } = (await readBrokerRecord(home)) ?? {};
      const external = { url: `unix:${socket}`, address: { kind: 'unix', path: socket ?? '' } } as const;
      for (const plugin of ['leader:x', 'toy:z']) {
        await expect(startToys([plugin], join(dirname(home), 'other'), { external })).rejects.toMatchObject({
          code: 'PLUGIN_CLAIMED',
          message: expect.stringContaining(`process ${process.pid} on ${hostname()}`),
        });
      }
      expect(first.calls).toEqual(['start x', 'start z']);
    }));

  it('Law 12: a standby of a kind that has leaders starts when the name is free, in a higher term', () =>
    withHome(async (home) => {
      await using first = await startToys(['leader:x', 'toy:a'], home);
      await using second = await startToys(['leader:x'], home, { isStandby: true });
      expect(second.status().plugins).toMatchObject([{ name: 'x', role: 'standby' }]);
      expect(second.calls).toEqual([]);
      const termOf = () => first.bus.registry.active('x')?.advertisement.term ?? 0;
      await until(() => termOf() > 0, 'nobody leads');
      const before = termOf();
      await first.stopPlugin('x');
      await until(() => termOf() > before, 'the standby does not lead');
      expect(second.calls).toEqual(['start x']);
      const { get } = first.bus.plugins.resolve(metadataInterface, 'x');
      expect(await get({ path: 'greeting' }, ctx())).toMatchObject({ found: true });
    }));
});

describe('control of a process (GP-L2)', () => {
  it('tells what it runs, stops one plugin and waits for it, refuses an unknown name, ends with the last', () =>
    withHome(async (home) => {
      const host = await startToys(['toy:a', 'leader:b'], home);
      await using observer = await startToys(['toy:c'], home);
      const control = observer.bus.plugins.resolve(processInterface, processPlugin(host.nonce));
      expect(await control.describe({}, ctx())).toEqual({
        pid: process.pid,
        host: hostname(),
        version: '0.0.0-test',
        uptimeMs: expect.any(Number),
        plugins: [
          { name: 'a', kind: 'toy', role: 'active', health: [] },
          { name: 'b', kind: 'leader', role: 'active', health: [] },
        ],
      });
      await expect(control.stopPlugin({ name: 'zebra' }, ctx())).rejects.toMatchObject({ code: 'PLUGIN_UNKNOWN' });
      await control.stopPlugin({ name: 'b' }, ctx());
      expect(host.calls).toEqual(['start a', 'start b', 'stop b']);
      await until(() => observer.bus.registry.active('b') === undefined, 'b is still on the bus');
      await control.stopPlugin({ name: 'a' }, ctx());
      await host.stopped;
    }));

  it('stop is answered, then everything ends', () =>
    withHome(async (home) => {
      await using broker = await startToys(['toy:c'], home);
      const host = await startToys(['toy:a'], home);
      await broker.bus.plugins.resolve(processInterface, processPlugin(host.nonce)).stop({}, ctx());
      await host.stopped;
      expect(host.calls).toEqual(['start a', 'stop a']);
      await until(() => !broker.bus.registry.processes().has(host.nonce), 'the process is still on the bus');
    }));
});
