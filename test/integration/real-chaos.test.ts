import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '@infrakit/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playRealJob, realRounds, untilRight } from '../e2e/real-crash.ts';
import type { RealStage } from '../e2e/real-stage.ts';

let stage: RealStage;

beforeAll(async () => {
  stage = await playRealJob(3);
}, 60_000);
afterAll(() => stage[Symbol.asyncDispose](), 60_000);

describe('the main job on real parts, with parts that die', () => {
  test('the engine is away for 10 s: no export is removed, no container made, and all is well afterwards (Law 1)', async () => {
    const before = stage.exported();
    expect(before).toHaveLength(3);
    const ids = stage.containers().map(({ id }) => id);
    await stage.podman.stop('SIGTERM');
    for (const endMs = performance.now() + 10_000; performance.now() < endMs; await delay(250)) {
      expect(stage.exported()).toEqual(before);
    }
    await stage.podman.start();
    await untilRight(stage, 'the engine is back', () => stage.wrongWith(3));
    expect(stage.containers().map(({ id }) => id)).toEqual(ids);
    const [victim = ''] = ids;
    stage.podman.run('kill', victim);
    await untilRight(stage, 'a container is replaced, as before', () =>
      stage.containers().some(({ id }) => id === victim) ? 'it still runs' : stage.wrongWith(3),
    );
  }, 60_000);

  test('kill -9 of infrakit, then of the engine: nothing is orphaned, nothing is there twice (Law 7, Law 11)', async () => {
    const seed = randomInt(2 ** 31);
    const rounds = await realRounds(stage, 2, seededRandom(seed)).catch((cause: unknown) => {
      throw new Error(`repeat it with seed ${seed}`, { cause });
    });
    expect(rounds).toHaveLength(2);
  }, 90_000);
});
