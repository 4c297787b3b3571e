import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { controllerInterface, testingContext } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { startMosquitto } from '../integration/mosquitto.ts';
import { until } from '../integration/repeater-scene.ts';
import { requireProgram } from '../programs.mjs';
import { startHere, temporaryHome } from './hosts.ts';

const run = promisify(execFile);

/** A sink that lets in only who goes by `site1-…`. */
const startChoosy = () => startMosquitto({ config: ['clientid_prefixes site1-'] });

const begin = async (properties: object) => {
  const home = await temporaryHome();
  const host = await startHere(['time', 'repeater'], { home: home.path });
  const repeater = host.bus.plugins.resolve(controllerInterface, 'repeater');
  const spec = { kind: 'event-repeater', metadata: { name: 'out' }, properties: { Source: 'time', ...properties } };
  await repeater.commit({ spec, revision: 1 }, testingContext());
  const row = async () => {
    const { objects } = await repeater.describe({ search: {} }, testingContext());
    return objects.flatMap(
      ({ state }) => state as readonly { State: string; Data: { messages: number; error?: string } }[],
    )[0];
  };
  return {
    row,
    [Symbol.asyncDispose]: async () => {
      await host.stop();
      await home[Symbol.asyncDispose]();
    },
  };
};

test('issue 6: Format cloudevents: an event is one of CloudEvents in structured mode, and its content type says so', async () => {
  await using sink = await startMosquitto();
  await using _repeater = await begin({
    Sink: { URL: sink.url },
    Rules: [{ sourcetopic: 'timer/msec/500', sinktopic: 'ticks', Format: 'cloudevents' }],
  });
  const words = ['-V', '5', '-p', `${sink.port}`, '-t', 'ticks', '-C', '1', '-W', '30', '-F', '%C|%p'];
  const { stdout } = await run(requireProgram('mosquitto_sub'), words);
  const [, type, payload = ''] = /^([^|]*)\|(.*)$/.exec(stdout.trim()) ?? [];
  expect(type).toBe('application/cloudevents+json; charset=utf-8');
  const event = JSON.parse(payload);
  expect(event).toMatchObject({ specversion: '1.0', id: expect.stringMatching(/./), data: 500_000_000 });
  expect(Date.parse(event.time)).toBeGreaterThan(0);
});

test('issue 6: Sink.ClientID is what the sink knows us by', async () => {
  await using sink = await startChoosy();
  const Rules = [{ sourcetopic: 'timer/msec/500', sinktopic: 'ticks' }];
  await using named = await begin({ Sink: { URL: sink.url, ClientID: 'site1' }, Rules });
  await until('messages', async () => ((await named.row())?.Data.messages ?? 0) > 0);
  expect((await named.row())?.State).toBe('active');
  await using other = await begin({ Sink: { URL: sink.url }, Rules });
  await until('why it is not let in', async () => /refuses us/.test((await other.row())?.Data.error ?? ''));
});
