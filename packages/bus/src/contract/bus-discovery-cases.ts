import { type ContractCase, demand, demandEqual, demandRejects, type Presence, pluginObject } from '@infrakit/spi';
import type { PluginRole } from '../discovery/advertise.ts';
import {
  type BusSubject,
  callLamp,
  lamp,
  lampInterface,
  refusesLamp,
  scenePid,
  sceneTopics,
  withBusScene,
} from './bus-scene.ts';

const oddNames = ['a/b', 'a+b', '#', 'two words', '🦊', '-', '.', '..', '$SYS', '%2F', 'ä'];

/** Demands on who is found under which name. */
export const discoveryCases: readonly ContractCase<BusSubject>[] = [
  {
    name: 'a plugin of another process is found and answers, whatever its objects are called',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process }) => {
        const [server, client] = [await process('n1'), await process('n2')];
        const objects = [lamp('', 'itself'), ...oddNames.map((name) => lamp(name, name))];
        await server.start('house', { isSingle: false, objects: () => objects });
        for (const { plugins, sees } of [client, server]) {
          await sees('house');
          demandEqual(await callLamp(plugins, 'house', 'look', ctx), 'itself', 'the answer of the plugin itself');
          for (const name of oddNames) {
            demandEqual(await callLamp(plugins, `house/${name}`, 'light', ctx), name, `the answer of ${name}`);
          }
        }
      }),
  },
  {
    name: 'stacks with different prefixes on one broker never see each other',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process }) => {
        const [red, blue] = [await process('n1', { prefix: 'red' }), await process('n2', { prefix: 'site/blue' })];
        for (const [by, bus] of Object.entries({ red, blue })) {
          const objects = [lamp('', by)];
          await bus.start('house', { isSingle: false, objects: () => objects });
          await bus.start(`only-${by}`, { isSingle: false, objects: () => objects });
        }
        for (const [by, bus] of Object.entries({ red, blue })) {
          demandEqual(await callLamp(bus.plugins, 'house', 'look', ctx), by, 'who answers');
          demandEqual(
            bus.registry.list().map(({ plugin }) => plugin),
            ['house', `only-${by}`],
            'the plugins seen',
          );
          demandEqual(bus.registry.processes().size, 1, 'the processes seen');
        }
        await refusesLamp(red.plugins, ['only-blue', 'look'], 'PLUGIN_UNKNOWN', ctx);
      }),
  },
  {
    name: 'unknown plugin, object, interface and version are told apart, and say what was meant',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process }) => {
        const [server, { plugins, sees }] = [await process('n1'), await process('n2')];
        const objects = [lamp('kitchen', 'k')];
        await server.start('house', { isSingle: false, objects: () => objects });
        await sees('house/kitchen');
        const unknown = await refusesLamp(plugins, ['hose/kitchen', 'look'], 'PLUGIN_UNKNOWN', ctx);
        demandEqual(unknown.facts.near, 'house', 'the plugin that was meant');
        const missing = await refusesLamp(plugins, ['house/kitchn', 'look'], 'OBJECT_UNKNOWN', ctx);
        demandEqual(missing.facts.near, 'kitchen', 'the object that was meant');
        const call = (description: typeof lampInterface) => plugins.resolve(description, 'house/kitchen').look({}, ctx);
        const other = { ...lampInterface, name: 'Radio' as typeof lampInterface.name };
        await demandRejects(call(other), ['METHOD_UNKNOWN'], 'a call of another interface');
        const newer = { ...lampInterface, version: '2.0.0' as typeof lampInterface.version };
        await demandRejects(call(newer), ['INTERFACE_VERSION'], 'a call of another major version');
        const minor = { ...lampInterface, version: '1.9.0' as typeof lampInterface.version };
        demandEqual((await call(minor)).by, 'k', 'the answer to another minor version');
      }),
  },
  {
    name: 'a process that dies without a word is offline, and its plugins are cleared after a grace',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained, until }) => {
        const [server, client] = [await process('n1'), await process('n2', { orphanGraceMs: 100 })];
        const objects = [lamp('', 'x')];
        await server.start('house', { isSingle: false, objects: () => objects });
        const seen: Presence[] = [];
        const watching = client.registry.watch('house').subscribe((presence) => seen.push(presence));
        await until(() => seen.at(-1)?.kind === 'online', 'the plugin must be online');
        server.crash();
        await until(() => seen.at(-1)?.kind === 'offline', 'the plugin must be offline');
        await until(() => client.registry.list().length === 0, 'the plugin must be cleared');
        watching.unsubscribe();
        demandEqual([...(await retained('infrakit/#')).keys()], [sceneTopics.process('n2')], 'what is retained');
      }),
  },
  {
    name: 'a call that a process took along when it died ends soon, and says so',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [server, client] = [await process('n1'), await process('n2')];
        let taken = 0;
        const take = (): Promise<never> => {
          taken += 1;
          return new Promise(() => undefined);
        };
        const implementation = { look: take, light: take };
        const objects = [pluginObject({ object: '', description: lampInterface, implementation })];
        await server.start('house', { isSingle: false, objects: () => objects });
        await client.sees('house');
        const call = refusesLamp(client.plugins, ['house', 'light'], 'PLUGIN_UNAVAILABLE', {
          ...ctx,
          timeoutMs: 60_000,
        });
        await until(() => taken > 0, 'the call must be taken');
        server.crash();
        demand((await call).message.includes('ended before it answered Lamp.Light'), 'it must say what is known');
      }),
  },
  {
    name: 'a process topic that an old connection of the process clears late comes back',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, connect, retained, until }) => {
        const [server, client, will] = [await process('n1'), await process('n2'), await connect('will')];
        const objects = [lamp('', 'x')];
        await server.start('house', { isSingle: false, objects: () => objects });
        await client.sees('house');
        let cleared = 0;
        const watching = client.connection.subscribe(sceneTopics.process('n1'), 1, ({ payload }) => {
          if (payload.length === 0) cleared += 1;
        });
        await will.publish(sceneTopics.process('n1'), '', { qos: 1, retain: true });
        await until(() => cleared > 0 && client.registry.active('house') !== undefined, 'it must come back');
        watching.close();
        demand((await retained(sceneTopics.filters.processes)).has(sceneTopics.process('n1')), 'it must be retained');
      }),
  },
  {
    name: 'the late end of an old incarnation leaves the new one online',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until, connect }) => {
        const topic = sceneTopics.process('n0');
        await subject.connectMute({ clientId: 'test-n0', will: { topic, payload: '', qos: 1, retain: true } });
        const ghost = await connect('ghost');
        const presence = { pid: 1, host: 'h', version: '0.1.0' };
        const advertisement = { process: 'n0', role: 'active', interfaces: [], term: 1 };
        await ghost.publish(topic, JSON.stringify(presence), { qos: 1, retain: true });
        await ghost.publish(sceneTopics.plugin('house', 'n0.1'), JSON.stringify(advertisement), {
          qos: 1,
          retain: true,
        });
        const [server, client] = [await process('n1'), await process('n2')];
        const objects = [lamp('', 'new')];
        await server.start('house', {
          isSingle: true,
          objects: () => objects,
          role: () => ({ role: 'active', term: 2 }),
        });
        await until(() => client.registry.active('house')?.incarnation === 'n1.1', 'the highest term must win');
        await until(() => !client.registry.processes().has('n0'), 'the old process must end', 10_000);
        demandEqual(await callLamp(client.plugins, 'house', 'look', ctx), 'new', 'who answers');
      }),
  },
  {
    name: 'a second claimant of a name is refused, naming the host and pid of the first',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained }) => {
        // The first has the highest nonce: who is there stays, the lowest nonce decides only between those at once.
        const [first, second] = [await process('n9'), await process('n1')];
        const objects = [lamp('', 'x')];
        const how = { isSingle: false, objects: () => objects };
        await first.start('house', how);
        for (const bus of [second, first]) {
          const error = await demandRejects(bus.start('house', how), ['PLUGIN_CLAIMED'], 'a second start');
          demandEqual([error.facts.host, error.facts.pid], ['host-n9', scenePid], 'the host and pid named');
        }
        demandEqual((await retained('infrakit/plugins/+/+')).size, 1, 'what is advertised');
        await second.start('other', how);
      }),
  },
  {
    name: 'of several claimants at once exactly one stays',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained }) => {
        const buses = [await process('n3'), await process('n1'), await process('n2')];
        const objects = [lamp('', 'x')];
        const starts = buses.map((bus) => bus.start('house', { isSingle: false, objects: () => objects }));
        const outcomes = await Promise.allSettled(starts);
        demandEqual(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'how many start');
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') demandEqual(outcome.reason.code, 'PLUGIN_CLAIMED', 'why others do not');
        }
        demandEqual((await retained('infrakit/plugins/+/+')).size, 1, 'what is advertised');
      }),
  },
  {
    name: 'of a kind with leaders the one with the highest term answers; a standby does not',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [one, two, client] = [await process('n1'), await process('n2'), await process('n3')];
        const roles: Record<string, PluginRole> = { n1: { role: 'active', term: 1 }, n2: { role: 'standby' } };
        const started = await Promise.all(
          [one, two].map(({ nonce, start }) => {
            const objects = [lamp('', nonce)];
            return start('group', {
              isSingle: true,
              objects: () => objects,
              role: () => roles[nonce] ?? { role: 'standby' },
            });
          }),
        );
        const leads = (incarnation: string | undefined) => () =>
          client.registry.active('group')?.incarnation === incarnation;
        await until(leads('n1.1'), 'the first leads');
        demandEqual(await callLamp(client.plugins, 'group', 'light', ctx), 'n1', 'who answers');
        roles.n2 = { role: 'active', term: 2 };
        started[1]?.objectsChanged();
        await until(leads('n2.1'), 'the second leads');
        demandEqual(await callLamp(client.plugins, 'group', 'light', ctx), 'n2', 'who answers');
        demandEqual(client.registry.processes().get('n2')?.term, 2, 'the term of the process');
        roles.n1 = { role: 'standby' };
        started[0]?.objectsChanged();
        two.crash();
        await until(leads(undefined), 'nobody leads');
        await refusesLamp(client.plugins, ['group', 'light'], 'LEADER_NOT', ctx);
      }),
  },
  {
    name: 'of a managed object reads go to it and mutations to its manager, which alone may change it directly',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [groups, managers, client] = [await process('n1'), await process('n2'), await process('n3')];
        const cattle = [lamp('cattle', 'group'), lamp('free', 'group')];
        const proxies = [lamp('cattle', 'manager', 'group/cattle')];
        await groups.start('group', { isSingle: false, objects: () => cattle });
        const manager = await managers.start('mystack', { isSingle: false, objects: () => proxies });
        for (const { registry } of [groups, managers, client]) {
          await until(() => registry.proxyOf('group/cattle') === 'mystack/cattle', 'the proxy must be known');
        }
        for (const { plugins } of [client, groups, managers]) {
          demandEqual(await callLamp(plugins, 'mystack/cattle', 'look', ctx), 'group', 'who is read');
          demandEqual(await callLamp(plugins, 'mystack/cattle', 'light', ctx), 'manager', 'who changes it');
          demandEqual(await callLamp(plugins, 'group/cattle', 'look', ctx), 'group', 'who is read');
          demandEqual(await callLamp(plugins, 'group/free', 'light', ctx), 'group', 'who changes what nobody manages');
          const error = await refusesLamp(plugins, ['group/cattle', 'light'], 'OBJECT_MANAGED', ctx);
          demandEqual(error.facts.proxy, 'mystack/cattle', 'the proxy named');
        }
        demandEqual(await callLamp(manager.plugins, 'group/cattle', 'light', ctx), 'group', 'who the manager changes');
      }),
  },
  {
    name: 'a thousand objects are found',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process }) => {
        const server = await process('n1');
        const objects = Array.from({ length: 1_000 }, (_, n) => lamp(`lamp ${n}`, String(n)));
        await server.start('house', { isSingle: false, objects: () => objects });
        const { plugins } = await process('n2');
        for (const n of [0, 500, 999]) {
          demandEqual(await callLamp(plugins, `house/lamp ${n}`, 'look', ctx), String(n), 'the answer');
        }
      }),
  },
];
