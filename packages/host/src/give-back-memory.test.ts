import { expect, test } from 'vitest';
import { memoryKeeper } from './give-back-memory.ts';

const mebibyte = 2 ** 20;

/** A process whose collections bring it back to 100 MB. */
const playing = () => {
  let bytes = 100 * mebibyte;
  let collections = 0;
  const keep = memoryKeeper({
    residentBytes: () => bytes,
    collect: () => {
      collections += 1;
      bytes = 100 * mebibyte;
    },
  });
  return {
    /** Looks when that many MB are in use, and says how many collections there were. */
    lookAt: (megabytes: number): number => {
      bytes = megabytes * mebibyte;
      keep();
      return collections;
    },
  };
};

test('the garbage of a burst is collected when the burst is over, once', () => {
  const { lookAt } = playing();
  expect([lookAt(200), lookAt(300), lookAt(400), lookAt(402), lookAt(101)]).toEqual([0, 0, 0, 1, 1]);
});

test('a process at rest is left alone', () => {
  const { lookAt } = playing();
  expect([100, 101, 110, 111, 120, 125, 126].map(lookAt)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test('what is still in use after a collection is not collected again and again', () => {
  let bytes = 100 * mebibyte;
  let collections = 0;
  const keep = memoryKeeper({
    residentBytes: () => bytes,
    collect: () => {
      collections += 1;
    },
  });
  bytes = 400 * mebibyte;
  for (let look = 0; look < 5; look += 1) keep();
  expect(collections).toBe(1);
});
