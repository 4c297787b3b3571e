import { expect, test } from 'vitest';
import { memoryKeeper } from './give-back-memory.ts';

const mebibyte = 2 ** 20;

/** A process whose memory and work are what the test says. */
const playing = () => {
  let bytes = 100 * mebibyte;
  let busy = 0;
  let collections = 0;
  const keep = memoryKeeper({
    residentBytes: () => bytes,
    busyShare: () => busy,
    collect: () => {
      collections += 1;
    },
  });
  /** Looks when that many MB are resident, and says how many collections there were. */
  return (megabytes: number, share = 0): number => {
    bytes = megabytes * mebibyte;
    busy = share;
    keep();
    return collections;
  };
};

test('the garbage of a burst is collected when the burst is over, once', () => {
  const look = playing();
  expect([look(200, 0.9), look(300, 1), look(400, 0.5), look(400, 0.1), look(101)]).toEqual([0, 0, 0, 1, 1]);
});

test('a process that grows little is left alone', () => {
  const look = playing();
  expect([100, 120, 140, 160, 163].map((megabytes) => look(megabytes))).toEqual([0, 0, 0, 0, 0]);
});

test('what is still in use after a collection is not collected again and again', () => {
  const look = playing();
  expect([100, 400, 390, 400, 450, 580].map((megabytes) => look(megabytes))).toEqual([0, 1, 1, 1, 1, 1]);
  expect(look(590)).toBe(2);
});

test('what a burst takes right after a collection does not count as what was left by it', () => {
  let bytes = 100 * mebibyte;
  let collections = 0;
  const keep = memoryKeeper({
    residentBytes: () => bytes,
    busyShare: () => (bytes > 350 * mebibyte ? 1 : 0),
    collect: () => {
      collections += 1;
      bytes = 150 * mebibyte;
    },
  });
  for (const megabytes of [300, 400, 300]) {
    bytes = megabytes * mebibyte;
    keep();
  }
  expect(collections).toBe(2);
});
