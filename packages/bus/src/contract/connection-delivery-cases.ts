import { AppError, matchesFilter } from '@infrakit/core';
import { type ContractCase, demand, demandEqual } from '@infrakit/spi';
import { type ConnectionSubject, textOf, withScene } from './connection-scene.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, n) => String(n));

const wildcardFilters = ['t/+', 't/#', '+/a', '#', 't/a', 't/+/c', '+/+', '/+', 't/a/#', '+', 't//c'];
const wildcardTopics = ['t', 't/a', 't/a/b', 't/b/c', 't//c', '/x', 'u/a', 'T/a', 'snow/☃ and space'];

/** Demands on what is published, retained and delivered. */
export const deliveryCases: readonly ContractCase<ConnectionSubject>[] = [
  {
    name: 'a publish at QoS 1 that succeeded reaches every subscriber, with its own QoS',
    cites: '[MQTT-4.3.2]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [sender, near, far] = [await connect('sender'), await connect('near'), await connect('far')];
        const boxes = [await listen(near, 'q/a'), await listen(far, 'q/a'), await listen(far, 'q/+', 0)];
        await sender.publish('q/a', 'one', { qos: 1 });
        await until(() => boxes.every(({ messages }) => messages.length > 0), 'all three must get the message');
        demandEqual(boxes[0]?.messages[0]?.qos, 1, 'the QoS of a message published and subscribed at QoS 1');
      }),
  },
  {
    name: 'a payload arrives byte by byte, text as UTF-8',
    cites: '[MQTT-3.3.2]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('bytes');
        const box = await listen(client, 'b');
        const every = Uint8Array.from({ length: 256 }, (_, n) => n);
        await client.publish('b', every.subarray(1, 255), { qos: 1 });
        await client.publish('b', 'grüße ☃', { qos: 1 });
        await until(() => box.messages.length === 2, 'both messages must arrive');
        demandEqual([...(box.messages[0]?.payload ?? [])], [...every.subarray(1, 255)], 'the bytes');
        demandEqual(box.texts()[1], 'grüße ☃', 'the text');
      }),
  },
  {
    name: 'a message of 5 MB arrives whole',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [sender, receiver] = [await connect('sender'), await connect('receiver')];
        const box = await listen(receiver, 'big');
        const payload = new Uint8Array(5 * 2 ** 20).fill(7);
        payload[payload.length - 1] = 9;
        await sender.publish('big', payload, { qos: 1 });
        await until(() => box.messages.length === 1, 'the message must arrive');
        const got = box.messages[0]?.payload;
        demand(got !== undefined && Buffer.compare(got, payload) === 0, 'the message must be the one that was sent');
      }),
  },
  {
    name: 'messages on one topic keep their order, also when nobody waits between them',
    cites: '[MQTT-4.6.0]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [sender, receiver] = [await connect('sender'), await connect('receiver')];
        const box = await listen(receiver, 'order');
        await Promise.all(names(900).map((text) => sender.publish('order', text, { qos: 1 })));
        await until(() => box.messages.length >= 900, 'all messages must arrive');
        demandEqual(box.texts(), names(900), 'the messages');
      }),
  },
  {
    name: 'a flood of publishes is delivered or refused, each of them',
    cites: 'Law 10',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [sender, receiver] = [await connect('sender'), await connect('receiver')];
        const box = await listen(receiver, 'flood', 0);
        const sent = await Promise.allSettled(names(5_000).map((text) => sender.publish('flood', text, { qos: 1 })));
        const refused = sent.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        demand(
          refused.every((error) => error instanceof AppError && error.code === 'BUS_UNAVAILABLE'),
          'a publish of a flood must succeed or be refused with BUS_UNAVAILABLE',
        );
        await until(() => box.messages.length >= 5_000 - refused.length, 'what succeeded must arrive');
      }),
  },
  {
    name: 'a retained message is replayed to whoever subscribes later, and marked',
    cites: '[MQTT-3.3.1-8]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [writer, reader] = [await connect('writer'), await connect('reader')];
        const early = await listen(reader, 'r/live');
        await writer.publish('r/live', 'old', { qos: 1, retain: true });
        await writer.publish('r/live', 'new', { qos: 1, retain: true });
        const late = await listen(reader, 'r/+');
        await until(() => late.messages.length > 0, 'the retained message must be replayed');
        demandEqual([...new Set(late.texts())], ['new'], 'what is replayed');
        // Some brokers acknowledge before they forward: the live message may still be on its way, and come first.
        await until(() => late.messages.some(({ retain }) => retain), 'a replayed message must be marked');
        demandEqual(early.messages[0]?.retain, false, 'retain of a live message');
      }),
  },
  {
    name: 'each subscription is given what is retained, also the second one on a filter',
    cites: '[MQTT-3.8.4-3]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('twice');
        await client.publish('r/a', 'kept', { qos: 1, retain: true });
        const first = await listen(client, 'r/#');
        const second = await listen(client, 'r/#');
        await until(() => first.messages.length > 0 && second.messages.length > 0, 'both must get it');
      }),
  },
  {
    name: 'an empty retained message clears the topic and is delivered live',
    cites: '[MQTT-3.3.1-10], [MQTT-3.3.1-11]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('clear');
        const live = await listen(client, 'r/#');
        await client.publish('r/a', 'there', { qos: 1, retain: true });
        await client.publish('r/b', 'stays', { qos: 1, retain: true });
        await client.publish('r/a', '', { qos: 1, retain: true });
        await until(() => live.texts().includes(''), 'the empty message must be delivered');
        const late = await listen(client, 'r/+');
        await until(() => late.messages.length > 0, 'the other topic must be replayed');
        demandEqual(
          late.messages.map(({ topic }) => topic),
          ['r/b'],
          'the topics that are retained',
        );
      }),
  },
  {
    name: '+ and # match as the standard says',
    cites: '[MQTT-4.7.1-2], [MQTT-4.7.1-3], [MQTT-4.7.3-4]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const [sender, receiver] = [await connect('sender'), await connect('receiver')];
        const boxes = await Promise.all(
          wildcardFilters.map(async (filter) => ({ filter, box: await listen(receiver, filter) })),
        );
        for (const topic of wildcardTopics) await sender.publish(topic, topic, { qos: 1 });
        const wanted = (filter: string) => wildcardTopics.filter((topic) => matchesFilter(filter, topic));
        const got = (messages: readonly { topic: string }[]) => [...new Set(messages.map(({ topic }) => topic))].sort();
        await until(
          () => boxes.every(({ filter, box }) => got(box.messages).length >= wanted(filter).length),
          'every filter must get what it matches',
        );
        for (const { filter, box } of boxes)
          demandEqual(got(box.messages), wanted(filter).sort(), `what ${filter} gets`);
      }),
  },
  {
    name: 'topics that begin with $ are hidden from leading wildcards',
    cites: '[MQTT-4.7.2-1]',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('dollar');
        const all = await listen(client, '#');
        const plus = await listen(client, '+/x');
        const named = await listen(client, '$hidden/#');
        await client.publish('$hidden/x', 'hidden', { qos: 1 });
        await client.publish('plain/x', 'seen', { qos: 1 });
        await until(() => named.messages.length === 1, 'a filter that names it must get it');
        await until(() => plus.messages.length > 0 && all.messages.length > 0, 'wildcards must get the other');
        const topics = [...all.messages, ...plus.messages].map(({ topic }) => topic);
        demand(!topics.some((topic) => topic.startsWith('$')), 'wildcards must not get a topic that begins with $');
      }),
  },
  {
    name: 'a client that subscribes to what it publishes hears itself',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('echo');
        const box = await listen(client, 'echo');
        await client.publish('echo', 'me', { qos: 1 });
        await until(() => box.messages.length === 1, 'its own message must arrive');
      }),
  },
  {
    name: 'a handler is called once a message for each open subscription, and never after close',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('once');
        const [first, second, closed] = [
          await listen(client, 'once/a'),
          await listen(client, 'once/a'),
          await listen(client, 'once/a'),
        ];
        closed.close();
        closed.close();
        await client.publish('once/a', '1', { qos: 1 });
        await client.publish('once/a', 'fence', { qos: 1 });
        await until(() => [first, second].every(({ texts }) => texts().includes('fence')), 'both must get the fence');
        demandEqual(
          [first.texts(), second.texts()],
          [
            ['1', 'fence'],
            ['1', 'fence'],
          ],
          'what both get',
        );
        demandEqual(closed.texts(), [], 'what a closed subscription gets');
        first.close();
        await client.publish('once/a', 'last', { qos: 1 });
        await until(() => second.texts().includes('last'), 'the other must go on');
        demandEqual(first.texts(), ['1', 'fence'], 'what it got before it was closed');
      }),
  },
  {
    name: 'a filter that is closed and opened again delivers',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('again');
        for (const round of names(5)) {
          const box = await listen(client, 'again');
          await client.publish('again', round, { qos: 1 });
          await until(() => box.texts().includes(round), 'the message must arrive');
          box.close();
        }
      }),
  },
  {
    name: 'a handler that throws disturbs no other handler and no later message',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('throws');
        const bad = client.subscribe('x', 1, (message) => {
          throw new Error(`cannot read ${textOf(message)}`);
        });
        await bad.ready();
        const good = await listen(client, 'x');
        await client.publish('x', '1', { qos: 1 });
        await client.publish('x', '2', { qos: 1 });
        await until(() => good.messages.length === 2, 'the other handler must get both messages');
      }),
  },
  {
    name: 'a handler may publish and subscribe',
    cites: 'Connection',
    run: (subject, ctx) =>
      withScene(subject, ctx, async ({ connect, listen, until }) => {
        const client = await connect('reply');
        const answers = await listen(client, 'answer');
        const failures: unknown[] = [];
        client.subscribe('question', 1, () => {
          client.subscribe('more', 0, () => undefined);
          client.publish('answer', 'yes', { qos: 1 }).catch((error: unknown) => failures.push(error));
        });
        await client.publish('question', '?', { qos: 1 });
        await until(() => answers.messages.length > 0 || failures.length > 0, 'the answer must arrive');
        demandEqual(failures, [], 'what went wrong');
      }),
  },
];
