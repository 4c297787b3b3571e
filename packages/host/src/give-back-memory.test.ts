import { expect, test } from 'vitest';
import { memoryKeeper } from './give-back-memory.ts';

const mebibyte = 2 ** 20;

/** A process of 100 MB, of which that part at least is in use after a collection. */
const playing = (inUse = 100) => {
  let bytes = 100 * mebibyte;
  let busy = 0;
  let collections = 0;
  const keep = memoryKeeper({
    residentBytes: () => bytes,
    busyShare: () => busy,
    collect: () => {
      collections += 1;
      bytes = inUse * mebibyte;
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
  const look = playing(400);
  expect([400, 400, 450, 590].map((megabytes) => look(megabytes))).toEqual([1, 1, 1, 1]);
  expect(look(601)).toBe(2);
});
