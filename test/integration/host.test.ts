import { access, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { parseBrokerUrl } from '@infrakit/core';
import { processInterface, processPlugin, readBrokerRecord } from '@infrakit/host';
import { instanceInterface } from '@infrakit/spi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until, withHome } from '../host/toy-host.ts';
import { startBlackHole } from './black-hole.ts';
import { bundleHost, type HostBundle } from './host-bundle.ts';
import { startHostProcess } from './host-process.ts';
import { closeServer, freePort, listenOnLoopback } from './loopback.ts';
import { startMosquitto } from './mosquitto.ts';
import { type Observer, observe, observeHome } from './observer.ts';

let bundle: HostBundle;
beforeAll(async () => {
  bundle = await bundleHost();
});
afterAll(() => bundle[Symbol.asyncDispose]());

const startHost = (plugins: readonly string[], env: Readonly<Record<string, string>>) =>
  startHostProcess(bundle.program, plugins, env);

const ctx = (idempotencyKey?: string) => ({
  signal: new AbortController().signal,
  timeoutMs: 10_000,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
});

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Waits until a plugin answers, whatever it takes up to 5 s. */
const online = async (bus: Observer, plugin: string): Promise<void> => {
  await bus.registry.ready(5_000);
  await until(() => bus.registry.active(plugin) !== undefined, `${plugin} is not on the bus`);
};

const computeOf = (bus: Observer, plugin = 'simulator') => bus.plugins.resolve(instanceInterface, `${plugin}/compute`);

const idsAt = async (bus: Observer): Promise<string[]> => {
  const answer = await computeOf(bus).describe({ tags: {}, properties: false }, ctx());
  return 'instances' in answer ? answer.instances.map(({ ID }) => ID).sort() : [];
};

const provision = async (bus: Observer, key: string): Promise<string> => {
  const spec = { Properties: {}, Tags: {}, Init: '', LogicalID: null, Attachments: [] };
  return (await computeOf(bus).provision({ spec }, ctx(key))).id;
};

describe('kill -9 and a start with the same home (DESIGN §3, Law 11)', () => {
  it('GP-D2, GP-D3: there is no file to remove; everything is as it was, in under 3 s', () =>
    withHome(async (home) => {
      const plugins = ['manager:mystack', 'group', 'vanilla', 'simulator', 'enrollment:nfs'];
      const env = { INFRAKIT_HOME: home };
      let ids: string[];
      {
        await using first = startHost(plugins, env);
        await first.ready();
        await using bus = await observeHome(home);
        await online(bus, 'simulator');
        await provision(bus, 'a');
        await provision(bus, 'b');
        ids = await idsAt(bus);
        expect(ids).toHaveLength(2);
        first.signal('SIGKILL');
        await first.ended;
      }
      expect(await exists(join(home, 'broker.sock'))).toBe(true);
      await using second = startHost(plugins, env);
      expect(await second.ready()).toBeLessThan(3_000);
      await using bus = await observeHome(home);
      await online(bus, 'simulator');
      expect(await idsAt(bus)).toEqual(ids);
      expect(bus.registry.list().filter(({ process }) => process === undefined)).toEqual([]);
      second.signal('SIGTERM');
      expect(await second.ended).toMatchObject({ exit: 0 });
      expect(await exists(join(home, 'broker.sock'))).toBe(false);
      expect(await readBrokerRecord(home)).toBeUndefined();
    }));

  it('a process that joined comes back by itself when the one with the broker is started again', () =>
    withHome(async (home) => {
      const env = { INFRAKIT_HOME: home };
      await using first = startHost(['vanilla'], env);
      await first.ready();
      await using second = startHost(['simulator'], env);
      await second.ready();
      first.signal('SIGKILL');
      await first.ended;
      await using again = startHost(['vanilla'], env);
      await again.ready();
      await using bus = await observeHome(home);
      await online(bus, 'simulator');
      await online(bus, 'vanilla');
      expect(await idsAt(bus)).toEqual([]);
    }));
});

describe('a second start with one home (DESIGN §3)', () => {
  it('joins; the same names are refused with the host and pid of the first, exit 1; the first goes on', () =>
    withHome(async (home) => {
      const env = { INFRAKIT_HOME: home };
      await using first = startHost(['simulator', 'group'], env);
      await first.ready();
      for (const name of ['simulator', 'group']) {
        await using second = startHost(['vanilla', name], env);
        const { exit, stderr } = await second.ended;
        expect(exit).toBe(1);
        expect(stderr).toContain(`infrakit: ${name} is run by process ${first.pid} on ${hostname()} already\n`);
      }
      await using third = startHost(['vanilla'], env);
      await third.ready();
      await using bus = await observeHome(home);
      for (const plugin of ['simulator', 'group', 'vanilla']) await online(bus, plugin);
    }));

  it('of two at the same moment exactly one starts the broker', () =>
    withHome(async (home) => {
      const env = { INFRAKIT_HOME: home };
      await using first = startHost(['simulator'], env);
      await using second = startHost(['vanilla'], env);
      await Promise.all([first.ready(), second.ready()]);
      const joining = [first, second].filter((each) =>
        each.log().some(({ msg }) => msg === 'joining the broker of this home'),
      );
      expect(joining).toHaveLength(1);
      await using bus = await observeHome(home);
      for (const plugin of ['simulator', 'vanilla']) await online(bus, plugin);
    }));
});

describe('bad settings: one sentence, the right exit code, nothing changed', () => {
  it('a taken port offers INFRAKIT_BROKER and a free port', () =>
    withHome(async (home) => {
      const server = createServer();
      const port = await listenOnLoopback(server);
      try {
        await using host = startHost(['vanilla'], { INFRAKIT_HOME: home, INFRAKIT_LISTEN: `127.0.0.1:${port}` });
        const { exit, stderr } = await host.ended;
        expect({ exit, stderr }).toEqual({
          exit: 69,
          stderr: `infrakit: 127.0.0.1:${port} is taken: set INFRAKIT_BROKER=mqtt://127.0.0.1:${port} to use the broker there, or INFRAKIT_LISTEN=127.0.0.1:0 for a free port\n`,
        });
        expect(await readBrokerRecord(home)).toBeUndefined();
      } finally {
        await closeServer(server);
      }
    }));

  it('a home that cannot be written', () =>
    withHome(async (home) => {
      await mkdir(dirname(home), { recursive: true });
      await writeFile(home, '');
      await using host = startHost(['vanilla'], { INFRAKIT_HOME: join(home, 'below') });
      const { exit, stderr } = await host.ended;
      expect({ exit, stderr }).toEqual({
        exit: 1,
        stderr: `infrakit: ${home}/below cannot be the home: a part of its path is a file; set INFRAKIT_HOME to a folder of yours\n`,
      });
    }));

  it('GP-L1: an unknown kind; nothing is made', () =>
    withHome(async (home) => {
      await using host = startHost(['simulator', 'vanila'], { INFRAKIT_HOME: home });
      const { exit, stderr } = await host.ended;
      expect({ exit, stderr }).toEqual({
        exit: 1,
        stderr: 'infrakit: there is no kind of plugin named "vanila"; did you mean vanilla?\n',
      });
      expect(await exists(home)).toBe(false);
    }));

  it('a variable that cannot be read', () =>
    withHome(async (home) => {
      await using host = startHost(['vanilla'], { INFRAKIT_HOME: home, INFRAKIT_BROKER: 'localhost' });
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(1);
      expect(stderr).toMatch(/^infrakit: INFRAKIT_BROKER: not the address of a broker: .*\n$/);
    }));

  it('listening beyond loopback without TLS and users', () =>
    withHome(async (home) => {
      await using host = startHost(['vanilla'], { INFRAKIT_HOME: home, INFRAKIT_LISTEN: '0.0.0.0:0' });
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(1);
      expect(stderr).toMatch(/^infrakit: the embedded broker listens beyond loopback .*INFRAKIT_BROKER_USERS.*\n$/);
    }));

  it('without plugins it tells which kinds there are (GP §4.4)', async () => {
    await using host = startHost([], {});
    const { exit, stdout } = await host.ended;
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^Plugins available:\nKIND {16}EXEC\ncombo {15}inproc\n/);
  });
});

describe('a broker that is there already (INFRAKIT_BROKER)', () => {
  it('is used and recorded for the home; a second start and the command line find it; the last one takes the record away', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto();
      await using first = startHost(['simulator'], { INFRAKIT_HOME: home, INFRAKIT_BROKER: mosquitto.url });
      await first.ready();
      expect(await readBrokerRecord(home)).toEqual({
        kind: 'external',
        url: mosquitto.url,
        socket: null,
        pid: first.pid,
        prefix: 'infrakit',
      });
      await using second = startHost(['vanilla'], { INFRAKIT_HOME: home });
      await second.ready();
      {
        await using bus = await observe(parseBrokerUrl(mosquitto.url));
        for (const plugin of ['simulator', 'vanilla']) await online(bus, plugin);
      }
      second.signal('SIGTERM');
      await second.ended;
      first.signal('SIGTERM');
      expect(await first.ended).toMatchObject({ exit: 0 });
      expect(await readBrokerRecord(home)).toBeUndefined();
    }));

  it('may be started after the host', () =>
    withHome(async (home) => {
      const port = await freePort();
      await using host = startHost(['simulator'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: `mqtt://127.0.0.1:${port}`,
        INFRAKIT_LOG_LEVEL: 'debug',
      });
      await host.said('the broker is not there yet');
      await using mosquitto = await startMosquitto({ port });
      await host.ready();
      await using bus = await observe(parseBrokerUrl(mosquitto.url));
      await online(bus, 'simulator');
    }));

  it('whose port is closed: exit 69 after the deadline', () =>
    withHome(async (home) => {
      const url = `mqtt://127.0.0.1:${await freePort()}`;
      await using host = startHost(['simulator'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: url,
        INFRAKIT_START_TIMEOUT: '1s',
      });
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(69);
      expect(stderr).toMatch(/^infrakit: cannot reach .*: nothing listens there; tried for 1000 ms\n$/);
      expect(stderr).toContain(url.slice('mqtt://'.length));
    }));

  it('that accepts and never answers: exit 69 after the deadline', () =>
    withHome(async (home) => {
      await using hole = await startBlackHole();
      await using host = startHost(['simulator'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: hole.url,
        INFRAKIT_START_TIMEOUT: '1s',
      });
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(69);
      expect(stderr).toMatch(/^infrakit: mqtt:\/\/127\.0\.0\.1:\d+ did not answer within \d+ ms; tried for 1000 ms\n$/);
      expect(hole.accepted()).toBeGreaterThan(0);
    }));

  it('that never answers: a signal ends the wait at once, exit 0', () =>
    withHome(async (home) => {
      await using hole = await startBlackHole();
      await using host = startHost(['simulator'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: hole.url,
        INFRAKIT_START_TIMEOUT: '1h',
      });
      await until(() => hole.accepted() > 0, 'nobody connected', 15_000);
      host.signal('SIGINT');
      const { exit } = await host.ended;
      expect(exit).toBe(0);
    }));

  it('that refuses: exit 69 at once', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto({ users: { u: 'p' } });
      await using host = startHost(['simulator'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: mosquitto.url,
        INFRAKIT_START_TIMEOUT: '1h',
      });
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(69);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }));

  it('that is lost and comes back with no memory: everything is on the bus again, without a restart', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto();
      await using host = startHost(['simulator', 'group'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: mosquitto.url,
      });
      await host.ready();
      await mosquitto.stop();
      await host.said('disconnected');
      await mosquitto.start();
      await using bus = await observe(parseBrokerUrl(mosquitto.url));
      for (const plugin of ['simulator', 'group']) await online(bus, plugin);
      expect(await idsAt(bus)).toEqual([]);
    }));

  it('kill -9 and a start at once: the name that the dead process still holds on the bus is not in the way', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto();
      const env = { INFRAKIT_HOME: home, INFRAKIT_BROKER: mosquitto.url };
      await using first = startHost(['simulator'], env);
      await first.ready();
      first.signal('SIGKILL');
      await using second = startHost(['simulator'], env);
      await second.ready();
    }));
});

describe('the end of a host', () => {
  it('GP-L2: stop over the bus ends the process with exit 0', () =>
    withHome(async (home) => {
      const env = { INFRAKIT_HOME: home };
      await using broker = startHost(['vanilla'], env);
      await broker.ready();
      await using host = startHost(['simulator'], env);
      await host.ready();
      await using bus = await observeHome(home);
      await online(bus, 'simulator');
      const nonce = bus.registry.active('simulator')?.advertisement.process ?? '';
      const control = bus.plugins.resolve(processInterface, processPlugin(nonce));
      expect((await control.describe({}, ctx())).pid).toBe(host.pid);
      await control.stopPlugin({ name: 'simulator' }, ctx());
      expect(await host.ended).toMatchObject({ exit: 0 });
    }));

  it('an error that nobody caught is one line of the log and exit 1; nothing is in the way of the next start', () =>
    withHome(async (home) => {
      await using host = startHost(['simulator', 'group'], { INFRAKIT_HOME: home });
      await host.ready();
      host.signal('SIGUSR2');
      const { exit, stderr } = await host.ended;
      expect(exit).toBe(1);
      const lines = stderr.split('\n').filter((line) => line.includes('a fault in some plugin'));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'an error that nobody caught ends this process' });
      await using again = startHost(['simulator', 'group'], { INFRAKIT_HOME: home });
      await again.ready();
    }));

  it('the second signal ends it at once', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto();
      await using host = startHost(['simulator'], { INFRAKIT_HOME: home, INFRAKIT_BROKER: mosquitto.url });
      await host.ready();
      mosquitto.freeze();
      host.signal('SIGTERM');
      await host.said('stopping');
      host.signal('SIGTERM');
      expect(await host.ended).toMatchObject({ exit: 1 });
      mosquitto.thaw();
    }));

  it('Law 10: a broker that is frozen does not keep it from ending', () =>
    withHome(async (home) => {
      await using mosquitto = await startMosquitto();
      await using host = startHost(['simulator', 'group'], {
        INFRAKIT_HOME: home,
        INFRAKIT_BROKER: mosquitto.url,
      });
      await host.ready();
      mosquitto.freeze();
      host.signal('SIGTERM');
      expect(await host.ended).toMatchObject({ exit: 0 });
      mosquitto.thaw();
    }));
});
