import { type ContractCase, demand, demandEqual, demandRejects } from '@infrakit/spi';
import type { ConnectionStatus } from '../connection/connection.ts';
import { type ConnectionSubject, clearing, freeze, withScene } from './connection-scene.ts';

/** Demands on connections that begin, break, come back and end. */
export const lifeCases: readonly ContractCase<ConnectionSubject>[] = [
  {
    name: 'the present status comes first, then each change, and completion at the end',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, status, until }) => {
        const client = await connect('status');
        const seen: ConnectionStatus[] = [];
        let isComplete = false;
        client.status.subscribe({ next: (each) => seen.push(each), complete: () => (isComplete = true) });
        demandEqual(
          seen.map(({ kind }) => kind),
          ['connected'],
          'the status of a new connection',
        );
        await subject.stop();
        await status(client, 'disconnected');
        await subject.start();
        await status(client, 'connected');
        await client.close();
        await until(() => isComplete, 'the status must complete when the connection is closed');
        const kinds = seen.map(({ kind }) => kind).filter((kind, n, all) => kind !== all[n - 1]);
        demandEqual(kinds, ['connected', 'disconnected', 'connected', 'closed'], 'the changes');
        const sessions = seen.flatMap((each) => (each.kind === 'connected' ? [each.session] : []));
        demand(
          sessions.length === 2 && sessions[0] !== sessions[1],
          'each connection must count as a session of its own',
        );
      }),
  },
  {
    name: 'after a restart of the broker every open subscription delivers again',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, status, until }) => {
        const [sender, receiver] = [await connect('sender'), await connect('receiver')];
        const messages: string[] = [];
        const kept = receiver.subscribe('kept/+', 1, ({ topic }) => messages.push(topic));
        await kept.ready();
        const dropped = await listen(receiver, 'dropped');
        dropped.close();
        await subject.stop();
        await status(receiver, 'disconnected');
        const added = receiver.subscribe('added', 1, ({ topic }) => messages.push(topic));
        await subject.start();
        await Promise.all([kept.ready(), added.ready(), status(sender, 'connected')]);
        for (const topic of ['kept/a', 'added', 'dropped']) await sender.publish(topic, 'x', { qos: 1 });
        await until(() => messages.length >= 2, 'both subscriptions must deliver');
        demandEqual([...messages].sort(), ['added', 'kept/a'], 'what arrives');
        demandEqual(dropped.texts(), [], 'what a closed subscription gets');
      }),
  },
  {
    name: 'after a reconnect what is retained is replayed',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, status, until }) => {
        const client = await connect('replay');
        const box = await listen(client, 'r');
        await subject.stop();
        await status(client, 'disconnected');
        await subject.start();
        const other = await connect('writer');
        await other.publish('r', 'while you were away', { qos: 1, retain: true });
        await until(() => box.messages.length > 0, 'the retained message must be replayed');
      }),
  },
  {
    name: 'a publish without a connection is refused at once, and is not sent later',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, status, until }) => {
        const client = await connect('offline');
        const box = await listen(client, 'offline');
        await subject.stop();
        await status(client, 'disconnected');
        await demandRejects(client.publish('offline', 'lost', { qos: 1 }), ['BUS_UNAVAILABLE'], 'a publish at QoS 1');
        await demandRejects(client.publish('offline', 'lost', { qos: 0 }), ['BUS_UNAVAILABLE'], 'a publish at QoS 0');
        await subject.start();
        await status(client, 'connected');
        const again = await listen(client, 'offline');
        await client.publish('offline', 'fence', { qos: 1 });
        await until(() => again.messages.length > 0, 'the next message must arrive');
        demandEqual(box.texts(), ['fence'], 'what arrives');
      }),
  },
  {
    name: 'publishes under way when the broker ends succeed or fail, none hangs',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, until }) => {
        const client = await connect('underway');
        let settled = 0;
        const publishes = Array.from({ length: 500 }, (_, n) =>
          client.publish('u', String(n), { qos: n % 2 === 0 ? 1 : 0 }),
        );
        for (const each of publishes) {
          each.then(
            () => (settled += 1),
            () => (settled += 1),
          );
        }
        await subject.stop();
        await until(() => settled === 500, 'every publish must end');
      }),
  },
  {
    name: 'a broker that does nothing: publish and ready fail by their deadline',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('frozen');
        const box = await listen(client, 'f');
        freeze(subject);
        const publish = client.publish('f', 'late', { qos: 1, timeoutMs: 100 });
        const ready = client.subscribe('g', 1, () => undefined).ready({ timeoutMs: 100 });
        await Promise.all([
          demandRejects(publish, ['BUS_UNAVAILABLE'], 'a publish that nobody acknowledges'),
          demandRejects(ready, ['BUS_UNAVAILABLE'], 'a subscription that nobody acknowledges'),
        ]);
        subject.thaw();
        await client.publish('f', 'next', { qos: 1 });
        await until(() => box.texts().includes('next'), 'it must work when the broker goes on');
      }),
  },
  {
    name: 'a publish ends when its caller gives up',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect }) => {
        const client = await connect('abort');
        freeze(subject);
        const caller = new AbortController();
        const publish = client.publish('f', 'x', { qos: 1, signal: caller.signal });
        caller.abort();
        await demandRejects(publish, ['RPC_CANCELLED'], 'a publish whose caller gave up');
        const late = client.publish('f', 'x', { qos: 1, signal: caller.signal });
        await demandRejects(late, ['RPC_CANCELLED'], 'a publish whose caller had given up');
      }),
  },
  {
    name: 'ready holds for the present session only',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, status }) => {
        const client = await connect('ready');
        const subscription = client.subscribe('r', 1, () => undefined);
        await subscription.ready();
        await subscription.ready();
        await subject.stop();
        await status(client, 'disconnected');
        await demandRejects(subscription.ready({ timeoutMs: 50 }), ['BUS_UNAVAILABLE'], 'ready without a connection');
        const again = subscription.ready();
        await subject.start();
        await again;
      }),
  },
  {
    name: 'what a broker may not be sent is refused',
    cites: '[MQTT-3.3.2-2], [MQTT-4.7.1-2]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect }) => {
        const client = await connect('bad');
        for (const topic of ['', 'a/+', '#', 'a\0b']) {
          await demandRejects(
            client.publish(topic, 'x', { qos: 1 }),
            ['TOPIC_INVALID'],
            `the topic ${JSON.stringify(topic)}`,
          );
        }
        for (const filter of ['', 'a/#/b', 'a+']) {
          const subscribe = async () => client.subscribe(filter, 1, () => undefined).ready();
          await demandRejects(subscribe(), ['FILTER_INVALID'], `the filter ${JSON.stringify(filter)}`);
        }
        await client.publish('still/there', 'x', { qos: 1 });
      }),
  },
  {
    name: 'a severed client is gone: the will clears its topic',
    cites: 'DESIGN §3, [MQTT-3.1.2-8]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, status, until }) => {
        const [watcher, process] = [await connect('watcher'), await connect('process', clearing('p/1'))];
        const box = await listen(watcher, 'p/+');
        await process.publish('p/1', 'here', { qos: 1, retain: true });
        process.sever();
        await until(() => box.texts().includes(''), 'the will must be delivered');
        demandEqual((await status(process, 'closed')).kind, 'closed', 'the status of a severed connection');
        await demandRejects(process.publish('p/1', 'x', { qos: 1 }), ['BUS_UNAVAILABLE'], 'a publish after sever');
        await watcher.publish('p/fence', 'x', { qos: 1, retain: true });
        const late = await listen(watcher, 'p/#');
        await until(() => late.messages.length > 0, 'the other topic must be replayed');
        demandEqual(
          late.messages.map(({ topic }) => topic),
          ['p/fence'],
          'the topics that are retained',
        );
      }),
  },
  {
    name: 'a closed client leaves its topics alone, and ends',
    cites: '[MQTT-3.1.2-10]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [watcher, process] = [await connect('watcher'), await connect('process', clearing('p/1'))];
        const box = await listen(watcher, 'p/+');
        const subscription = process.subscribe('p/1', 1, () => undefined);
        await process.publish('p/1', 'here', { qos: 1, retain: true });
        await process.close();
        await process.close();
        await demandRejects(process.publish('p/1', 'x', { qos: 1 }), ['BUS_UNAVAILABLE'], 'a publish after close');
        await demandRejects(subscription.ready(), ['BUS_UNAVAILABLE'], 'ready after close');
        subscription.close();
        await watcher.publish('p/1', 'fence', { qos: 1 });
        await until(() => box.texts().includes('fence'), 'the fence must arrive');
        demandEqual(box.texts(), ['here', 'fence'], 'what the watcher sees');
      }),
  },
  {
    name: 'close ends with a broker that does nothing',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, until }) => {
        const client = await connect('stuck');
        freeze(subject);
        client.publish('x', 'never acknowledged', { qos: 1, timeoutMs: 50 }).catch(() => undefined);
        let isClosed = false;
        client.close().then(() => (isClosed = true));
        await until(() => isClosed, 'close must end');
      }),
  },
  {
    name: 'a dead client that the broker gives up late does not touch the topic of the next one',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const watcher = await connect('watcher');
        await watcher.publish('p/old', 'here', { qos: 1, retain: true });
        await subject.connectMute({ clientId: 'p-old', will: clearing('p/old') });
        const next = await connect('p-new', clearing('p/new'));
        await next.publish('p/new', 'here', { qos: 1, retain: true });
        const box = await listen(watcher, 'p/+');
        const isOldGone = () => box.messages.some(({ topic, payload }) => topic === 'p/old' && payload.length === 0);
        await until(isOldGone, 'the will of the old one must come', 10_000);
        const late = await listen(watcher, 'p/#');
        await until(() => late.messages.length > 0, 'the new one must be replayed');
        demandEqual(
          late.messages.map(({ topic }) => topic),
          ['p/new'],
          'the topics that are retained',
        );
      }),
  },
];
