import { instanceInterface } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { eventually, type Operator } from './operator.ts';
import { follows, mainJob, startStack } from './stack.ts';

const isHeld = async (operator: Operator): Promise<boolean> =>
  JSON.stringify(await operator.describe('mystack/nfs')).includes('"held":');

/** Destroys members where they live; their group had no part in it and makes no new ones. */
const vanish = async (operator: Operator, count: number): Promise<string[]> => {
  await operator.hold('mystack/cattle');
  const ids = (await operator.members('cattle')).slice(0, count);
  const compute = operator.plugins.resolve(instanceInterface, 'simulator/compute');
  const ctx = { signal: new AbortController().signal, timeoutMs: 10_000 };
  for (const id of ids) await compute.destroy({ id, context: { Reason: 'terminate' } }, ctx);
  return ids;
};

test('more unexplained removals than the budget hold the rule; approve lets exactly them through, once (Law 6)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  await vanish(operator, 5);
  await eventually('a held rule', 15_000, async () => ((await isHeld(operator)) ? true : undefined));
  expect(await operator.enrolled()).toHaveLength(10);
  await expect(operator.approve('mystack/nfs/cattle-nfs', 'another-plan')).rejects.toMatchObject({
    code: 'PLAN_STALE',
  });
  expect(await operator.enrolled()).toHaveLength(10);
  const plan = await operator.approve('mystack/nfs/cattle-nfs');
  expect(plan.messages).toHaveLength(5);
  await follows(operator, 5);
  await operator.resume('mystack/cattle');
  await follows(operator, 10);
}, 60_000);

test('others in the place of those who vanished are authorised at once; the stale ones wait for an approval (Law 6)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const vanished = await vanish(operator, 5);
  await eventually('a held rule', 15_000, async () => ((await isHeld(operator)) ? true : undefined));
  await operator.resume('mystack/cattle');
  const enrolled = await eventually('5 more authorisations', 15_000, async () => {
    const found = await operator.enrolled();
    return found.length === 15 ? found : undefined;
  });
  expect(enrolled).toEqual(expect.arrayContaining(vanished));
  await operator.approve('mystack/nfs/cattle-nfs');
  await follows(operator, 10);
}, 60_000);
