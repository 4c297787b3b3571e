import { connectMqtt } from '@infrakit/bus';
import { controllerInterface, eventInterface, realAfter, testingContext } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { startMosquitto } from '../integration/mosquitto.ts';
import { publish, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf } from './operator.ts';

interface Dropped {
  readonly ID: string;
  readonly Timestamp: string;
  readonly Data: { readonly dropped: number; readonly overflowed: number; readonly total: number };
}

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test('issue 6: drops are announced, at most once a second for each rule with their number, and shown in describe', async () => {
  await using home = await temporaryHome();
  await using source = await startMosquitto();
  const sink = await startMosquitto();
  await using host = await startHere(['repeater'], { home: home.path });
  const events: Dropped[] = [];
  const listener = await connectMqtt(
    { address: await brokerOf(home.path), clientId: 'plain-listener', version: '3.1.1' },
    { after: realAfter, random: Math.random, log },
  );
  await listener
    .subscribe(
      'infrakit/events/repeater/out/dropped',
      1,
      ({ payload }) => void events.push(JSON.parse(Buffer.from(payload).toString())),
    )
    .ready();
  const repeater = host.bus.plugins.resolve(controllerInterface, 'repeater');
  const spec = {
    kind: 'event-repeater',
    metadata: { name: 'out' },
    properties: {
      Source: source.url,
      Sink: { URL: sink.url },
      Rules: [{ sourcetopic: 's/#' }, { sourcetopic: 'small/#', MaxSize: 10 }],
      Buffer: { MaxBytes: 64 * 1024, Policy: 'drop-newest' },
    },
  };
  const rows = async () => {
    const { objects } = await repeater.describe({ search: {} }, testingContext());
    return objects.flatMap(({ state }) => state as readonly { State: string; Data: Record<string, unknown> }[]);
  };
  await repeater.commit({ spec, revision: 1 }, testingContext());
  await until('both rules', async () => {
    const states = (await rows()).map(({ State }) => State);
    return states.length === 2 && states.every((state) => state === 'active');
  });
  await sink.stop();
  for (let n = 0; n < 100; n += 1) await publish(source.port, 's/x', 'x'.repeat(1_000));
  await publish(source.port, 'small/x', 'x'.repeat(20));
  const told = (id: string) => events.filter(({ ID }) => ID === id);
  const sum = (id: string) => told(id).reduce((all, { Data }) => all + Data.dropped, 0);
  const kept = Math.floor((64 * 1024) / 1_033);
  await until('all that was dropped', () => sum('out/s/#') === 100 - kept && sum('out/small/#') === 1);

  expect(told('out/s/#').at(-1)?.Data).toMatchObject({ total: 100 - kept });
  expect(told('out/s/#').every(({ Data }) => Data.dropped === Data.overflowed)).toBe(true);
  expect(told('out/small/#')).toMatchObject([{ Data: { dropped: 1, overflowed: 0, total: 1 } }]);
  const times = told('out/s/#').map(({ Timestamp }) => Date.parse(Timestamp));
  for (const [n, ms] of times.slice(1).entries()) expect(ms - (times[n] ?? 0)).toBeGreaterThanOrEqual(990);
  const [first, second] = await rows();
  expect(first?.Data).toMatchObject({ dropped: 100 - kept, overflowed: 100 - kept, buffered: { messages: kept } });
  expect(second?.Data).toMatchObject({ dropped: 1, overflowed: 0 });
  const { nodes } = await host.bus.plugins.resolve(eventInterface, 'repeater').list({ topic: 'out' }, testingContext());
  expect(nodes).toEqual(['dropped']);
  await listener.close();
  await host.stop();
  await sink[Symbol.asyncDispose]();
}, 120_000);
