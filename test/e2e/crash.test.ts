import { randomInt } from 'node:crypto';
import { seededRandom } from '@infrakit/runtime';
import { expect, test } from 'vitest';
import { crashRounds } from './crash.ts';

test('kill -9 at a random moment of a random scale, five times: nothing is lost, made twice or in the way (Law 11)', async () => {
  const seed = randomInt(2 ** 31);
  const rounds = await crashRounds(5, seededRandom(seed)).catch((cause: unknown) => {
    throw new Error(`repeat it with seed ${seed}`, { cause });
  });
  expect(rounds).toHaveLength(5);
}, 120_000);
