import type { Host } from '@infrakit/host';
import { type CallContext, controllerInterface } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { type Mosquitto, startMosquitto } from '../integration/mosquitto.ts';
import { collect, publish, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';

const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

interface Row {
  readonly State: string;
  readonly Data: { readonly messages: number; readonly dropped: number; readonly lastDrop?: string };
}

/** Mirrors `loop/#` under the same topics. */
const mirror = async ({ bus }: Host, from: Mosquitto, to: Mosquitto): Promise<() => Promise<Row>> => {
  const controller = bus.plugins.resolve(controllerInterface, 'repeater');
  const spec = {
    kind: 'event-repeater',
    metadata: { name: 'half' },
    properties: { Source: { URL: from.url }, Sink: { URL: to.url }, Rules: [{ sourcetopic: 'loop/#' }] },
  };
  await controller.commit({ spec, revision: 1 }, ctx());
  const row = async (): Promise<Row> => {
    const { objects } = await controller.describe({ search: {} }, ctx());
    const [first] = objects.flatMap(({ state }) => state as readonly Row[]);
    if (first === undefined) throw new Error('there is no rule');
    return first;
  };
  await until('the rule', async () => (await row()).State === 'active');
  return row;
};

test('issue 6: a message that two stacks send round between them dies out after MaxHops; the drop is counted and told by describe', async () => {
  await using left = await startMosquitto();
  await using right = await startMosquitto();
  await using oneHome = await temporaryHome();
  await using otherHome = await temporaryHome();
  await using one = await startHere(['repeater'], { home: oneHome.path });
  await using other = await startHere(['repeater'], { home: otherHome.path });
  await using atLeft = await collect(left.port, 'loop/#');
  await using atRight = await collect(right.port, 'loop/#');
  const there = await mirror(one, left, right);
  const back = await mirror(other, right, left);

  await publish(left.port, 'loop/x', 'round');
  await until('the drop', async () => (await there()).Data.dropped > 0);
  // Eight hops: there and back four times.
  expect((await there()).Data).toMatchObject({
    messages: 4,
    dropped: 1,
    lastDrop: expect.stringMatching(/^it has come through 8 repeaters, .* do they feed each other\?$/),
  });
  expect((await back()).Data).toMatchObject({ messages: 4, dropped: 0 });
  await publish(left.port, 'loop/end', 'end');
  await until('all of another one', () => atLeft.messages.filter(({ payload }) => payload === 'end').length === 5);
  const rounds = (messages: typeof atLeft.messages) => messages.filter(({ payload }) => payload === 'round').length;
  expect([rounds(atLeft.messages), rounds(atRight.messages)]).toEqual([5, 4]);
}, 40_000);
