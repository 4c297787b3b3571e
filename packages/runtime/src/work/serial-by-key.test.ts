import { expect, test } from 'vitest';
import { serialByKey } from './serial-by-key.ts';

test("Law 7: work of one key is done one after the other, in the order asked, and a failure is its caller's alone", async () => {
  const inTurn = serialByKey();
  const seen: string[] = [];
  let finish: () => void = () => undefined;
  const first = inTurn('a', async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    seen.push('first');
    throw new Error('no');
  });
  const second = inTurn('a', async () => seen.push('second'));
  await inTurn('b', async () => seen.push('other key'));
  expect(seen).toEqual(['other key']);
  finish();
  await expect(first).rejects.toThrow('no');
  await second;
  expect(seen).toEqual(['other key', 'first', 'second']);
});
