import type { Event } from '@infrakit/core';
import { type ContractCase, demand, demandEqual, type EventMessage } from '@infrakit/spi';
import { type BusSubject, callLamp, lamp, sceneTopics, withBusScene } from './bus-scene.ts';

const event = (Topic: string, ID = Topic): Event => ({ Topic, ID, Message: '', Timestamp: '2026-01-01T00:00:00Z' });
const objects = [lamp('', 'x')];
const how = { isSingle: false, objects: () => objects };

/** `event a/b`, `gap`, `bad`: what came, in short. */
const short = (message: EventMessage): string =>
  message.kind === 'event' ? `event ${message.event.Topic}` : message.kind;

const garbage: readonly (string | Uint8Array)[] = [
  'no JSON',
  '{}',
  '[]',
  'null',
  '"text"',
  '{"Topic":1}',
  Uint8Array.from([0xff, 0xfe, 0]),
  '['.repeat(100_000),
  'x'.repeat(1_000_000),
];

/** Demands on events, and on messages that are none. */
export const eventCases: readonly ContractCase<BusSubject>[] = [
  {
    name: 'filters and the old forms let the same events through as ever',
    cites: 'GP §3.2',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [source, client] = [await process('n1'), await process('n2')];
        const { events } = await source.start('local', how);
        const forms = ['.', '', 'time/', 'time', 'time/now', '/time/now', 'time/+', '+/#', 'other/'];
        const got = forms.map((form) => {
          const messages: EventMessage[] = [];
          client.subscribe('local', form).subscribe((message) => messages.push(message));
          return messages;
        });
        // The answer comes behind the subscriptions of the same connection.
        await client.sees('local');
        await callLamp(client.plugins, 'local', 'look', ctx);
        for (const topic of ['time', 'time/now', 'a b/#', 'time/now/x', '/end']) events.publish(event(topic));
        await until(() => got[0]?.length === 5, 'everything must arrive');
        await until(() => got[7]?.length === 5, 'everything must arrive');
        const topics = got.map((messages) =>
          messages.map((message) => (message.kind === 'event' ? message.event.Topic : message.kind)),
        );
        const all = ['time', 'time/now', 'a b/#', 'time/now/x', '/end'];
        const expected = [
          all,
          all,
          ['time/now', 'time/now/x'],
          ['time'],
          ['time/now'],
          ['time/now'],
          ['time/now'],
          all,
          [],
        ];
        demandEqual(topics, expected, 'what each form lets through');
      }),
  },
  {
    name: 'a lost event, another incarnation and a reconnect are gaps; what comes twice comes once',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, connect, until, status }) => {
        const [client, forger] = [await process('n1'), await connect('forger')];
        const got: string[] = [];
        client.subscribe('group', 'cattle/#').subscribe((message) => got.push(short(message)));
        const send = (topic: string, fields: object) =>
          forger.publish(sceneTopics.event('group', topic), JSON.stringify({ ...event(topic), ...fields }), { qos: 1 });
        await client.announced(5_000);
        await send('cattle/a', { Nonce: 'n9.1.1', Seq: 4 });
        await send('cattle/a', { Nonce: 'n9.1.1', Seq: 5 });
        await send('cattle/a', { Nonce: 'n9.1.1', Seq: 5 });
        await send('cattle/a', { Nonce: 'n9.1.1', Seq: 7 });
        await send('cattle/b', {});
        await send('cattle/a', { Nonce: 'n9.2.1', Seq: 1 });
        const a = 'event cattle/a';
        const expected = [a, a, 'gap', a, 'event cattle/b', 'gap', a];
        await until(() => got.length >= expected.length, 'all must arrive');
        demandEqual(got, expected, 'what arrives');
        await subject.stop();
        await status(client.connection, 'disconnected');
        await subject.start();
        await until(() => got.length > expected.length, 'the reconnect must be told');
        demandEqual(got.at(-1), 'gap', 'what a reconnect is');
      }),
  },
  {
    name: 'the events of a managed object come under the name of its manager too',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [groups, managers, client] = [await process('n1'), await process('n2'), await process('n3')];
        const got: string[] = [];
        client.subscribe('mystack', 'cattle/member/+').subscribe((message) => got.push(short(message)));
        const { events } = await groups.start('group', how);
        const proxies = [lamp('cattle', 'm', 'group/cattle')];
        await managers.start('mystack', { isSingle: false, objects: () => proxies });
        await until(() => client.registry.proxyOf('group/cattle') !== undefined, 'the proxy must be seen');
        await client.sees('group');
        await callLamp(client.plugins, 'group', 'look', ctx);
        for (const topic of ['cattle/member/joined', 'pets/member/joined', 'cattle/other'])
          events.publish(event(topic));
        events.publish(event('cattle/member/left'));
        await until(() => got.length >= 3, 'the events must arrive');
        demandEqual(got, ['gap', 'event cattle/member/joined', 'event cattle/member/left'], 'what arrives');
      }),
  },
  {
    name: 'a thousand events published at once arrive in order, without a gap',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, until }) => {
        const [source, client] = [await process('n1'), await process('n2')];
        const { events } = await source.start('local', how);
        const got: EventMessage[] = [];
        client.subscribe('local', '.').subscribe((message) => got.push(message));
        await client.sees('local');
        await callLamp(client.plugins, 'local', 'look', ctx);
        const ids = Array.from({ length: 1_000 }, (_, n) => String(n));
        for (const id of ids) events.publish(event('time', id));
        await until(() => got.length >= 1_000, 'all must arrive');
        demandEqual(
          got.map((message) => (message.kind === 'event' ? message.event.ID : message.kind)),
          ids,
          'the events',
        );
      }),
  },
  {
    name: 'garbage on every topic is counted, logged once a minute, and disturbs nothing',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, connect, until }) => {
        const warnings: string[] = [];
        const quiet = (): void => undefined;
        const log = {
          debug: quiet,
          info: quiet,
          error: quiet,
          warn: (_: unknown, message: string) => warnings.push(message),
        };
        const [server, client] = [await process('n1', { log }), await process('n2')];
        await server.start('local', how);
        const got: string[] = [];
        server.subscribe('local', '#').subscribe((message) => got.push(short(message)));
        const forger = await connect('forger');
        const places = [
          sceneTopics.process('ghost'),
          sceneTopics.plugin('ghost', 'ghost.1'),
          sceneTopics.plugin('local', 'ghost.1'),
          sceneTopics.event('local', 'a/b'),
          sceneTopics.rpc('local', '', 'Lamp.Look'),
          sceneTopics.reply(server.connection.clientId),
          'infrakit/plugins/%zz/x',
        ];
        for (const place of places)
          for (const payload of garbage)
            await forger.publish(place, payload, { qos: 1, retain: place.includes('ghost') });
        const count = places.length * garbage.length;
        await until(() => got.length >= garbage.length, 'bad events must be told');
        await until(() => server.badCount() >= count, 'each must be counted', 10_000);
        demand(
          got.every((each) => each === 'bad'),
          'bad events must be told as bad',
        );
        demand(warnings.filter((message) => message === 'bad message dropped').length <= 5, 'the log must be spared');
        await client.sees('local');
        demandEqual(await callLamp(client.plugins, 'local', 'look', ctx), 'x', 'the answer of a call');
        const seen = client.registry.list().map(({ incarnation }) => incarnation);
        demandEqual(seen, ['n1.1'], 'who is known');
      }),
  },
];
