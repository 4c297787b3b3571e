import type { Spec } from '@infrakit/core';
import { describeBroker } from '@infrakit/core';
import { type CallContext, controllerInterface } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { startMosquitto } from '../integration/mosquitto.ts';
import { collect, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator } from './operator.ts';

const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 30_000 });

test('issue 6: of a whole bus a wildcard takes events and state, but calls and answers only where they are named', async () => {
  await using home = await temporaryHome();
  await using sink = await startMosquitto();
  await using got = await collect(sink.port);
  const host = await startHere(['time', 'repeater'], { home: home.path });
  // From another process, so that calls go over the broker.
  await using operator = await connectOperator(await brokerOf(home.path));
  const controller = operator.plugins.resolve(controllerInterface, 'repeater');
  const Source = { URL: describeBroker(await brokerOf(home.path)) };
  const specOf = (name: string, Rules: readonly object[]): Spec => ({
    kind: 'event-repeater',
    metadata: { name },
    properties: { Source, Sink: { URL: `127.0.0.1:${sink.port}` }, Rules },
  });
  const families = (): string[] =>
    [...new Set(got.messages.map(({ topic }) => topic.split('/').slice(0, 3).join('/')))].sort();

  await controller.commit({ spec: specOf('all', [{ sourcetopic: '#', sinktopic: 'all/' }]), revision: 1 }, ctx());
  await until('events', () => got.messages.some(({ topic }) => topic.startsWith('all/infrakit/events/time/')));
  for (let call = 0; call < 5; call += 1) await controller.describe({ search: {} }, ctx());
  const seen = got.messages.length;
  await until('more events', () => got.messages.length > seen + 20);
  expect(families()).toContain('all/infrakit/events');
  expect(families().filter((family) => /\/(rpc|reply)$/.test(family))).toEqual([]);
  expect(families().filter((family) => family.startsWith('all/infrakit-canary'))).toEqual([]);

  const named = [{ sourcetopic: 'infrakit/rpc/repeater/#', sinktopic: 'calls/' }];
  await controller.commit({ spec: specOf('calls', named), revision: 1 }, ctx());
  await until('a call', async () => {
    await controller.describe({ search: {} }, ctx());
    return got.messages.some(({ topic }) => topic.startsWith('calls/infrakit/rpc/repeater/'));
  });
  await host.stop();
}, 120_000);
