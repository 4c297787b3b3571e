import type { Host } from '@infrakit/host';
import { type CallContext, controllerInterface } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { type Mosquitto, startMosquitto } from '../integration/mosquitto.ts';
import { collect, publish, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';

const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 30_000 });

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

test.each([
  { options: {}, most: 8 },
  { options: { MaxHops: 3 }, most: 3 },
])(
  'issue 6: a message that two stacks send round between them dies out after $most hops; the drop is counted and told by describe',
  async ({ options, most }) => {
    await using left = await startMosquitto();
    await using right = await startMosquitto();
    await using oneHome = await temporaryHome();
    await using otherHome = await temporaryHome();
    await using one = await startHere(['repeater'], { home: oneHome.path, pluginOptions: { repeater: options } });
    await using other = await startHere(['repeater'], { home: otherHome.path, pluginOptions: { repeater: options } });
    await using atLeft = await collect(left.port, 'loop/#');
    await using atRight = await collect(right.port, 'loop/#');
    const there = await mirror(one, left, right);
    const back = await mirror(other, right, left);

    await publish(left.port, 'loop/x', 'round');
    // The first hop is there, the second back.
    const hops = { there: Math.ceil(most / 2), back: Math.floor(most / 2) };
    const last = most % 2 === 0 ? there : back;
    await until('the drop', async () => (await last()).Data.dropped > 0);
    expect((await last()).Data).toMatchObject({
      dropped: 1,
      lastDrop: `it has come through ${most} repeaters, and more are not allowed: do they feed each other?`,
    });
    const [outward, inward] = [(await there()).Data, (await back()).Data];
    expect([outward.messages, inward.messages]).toEqual([hops.there, hops.back]);
    expect(outward.dropped + inward.dropped).toBe(1);
    // What the brokers have, when another message has gone the same way behind it.
    await publish(left.port, 'loop/end', 'end');
    await until('another drop', async () => (await last()).Data.dropped === 2);
    const rounds = (messages: typeof atLeft.messages) => messages.filter(({ payload }) => payload === 'round').length;
    expect([rounds(atLeft.messages), rounds(atRight.messages)]).toEqual([1 + hops.back, hops.there]);
  },
  120_000,
);
