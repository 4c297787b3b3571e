import { connectMqtt, parseBrokerUrl, rpcContract } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { contractTests } from '../contract.ts';
import { startBlackHole } from './black-hole.ts';
import { brokers, startInProcess } from './brokers.ts';

describe.each(brokers)('%s', (_, start) => {
  contractTests(rpcContract, async () => {
    const broker = await start();
    return {
      connect: broker.connect,
      cut: async () => broker.network.cut(),
      freeze: async () => {
        broker.network.freeze();
        return broker.network.thaw;
      },
      [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
    };
  });
});

describe('the embedded broker, in its process', () => contractTests(rpcContract, startInProcess));

test('a broker that accepts TCP and never answers is BUS_UNAVAILABLE at the deadline (Law 10)', async () => {
  await using hole = await startBlackHole();
  const quiet = (): void => {};
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const before = performance.now();
  const connecting = connectMqtt(
    { address: parseBrokerUrl(hole.url), clientId: 'c', connectTimeoutMs: 300 },
    { after: realAfter, random: Math.random, log },
  );
  await expect(connecting).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
  expect(hole.accepted()).toBeGreaterThan(0);
  expect(performance.now() - before).toBeLessThan(2_000);
});
