import { type DesiredEntry, idempotencyKey, type ObservedEntry, plan } from '@infrakit/core';

const sizes = [1_000, 100_000, 1_000_000] as const;

const pad = (index: number): string => String(index).padStart(9, '0');

interface Sides {
  readonly wanted: readonly DesiredEntry[];
  readonly observed: readonly ObservedEntry[];
}

/** As many on each side, one in a hundred missing from the other; `keyOf` gives the key of a member. */
const sides = (size: number, keyOf: (index: number) => string): Sides => {
  const indexes = Array.from({ length: size }, (_, index) => index);
  const shift = Math.ceil(size / 100);
  return {
    wanted: indexes.map((index) => ({ id: `m${pad(index)}`, key: { kind: 'known', value: keyOf(index) } })),
    observed: indexes.map((index) => ({
      id: `i${pad(index)}`,
      key: { kind: 'known', value: keyOf(index + shift) },
      ownership: { kind: 'ours' },
      sourceId: `m${pad(index + shift)}`,
    })),
  };
};

/** Property of a member from which a selector would take its key: in no order. */
const scattered = (index: number): string => `10.${(index * 7_919) % 1_000_003}.${index}`;

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

const heapMb = (): number => process.memoryUsage().heapUsed / 1_048_576;

const planned = ({ wanted, observed }: Sides, expected: number): void => {
  const { acts } = plan({ source: { kind: 'known', entries: wanted }, observed });
  if (acts.length !== expected) throw new Error(`planned ${acts.length} acts instead of ${expected}`);
};

const measure = (name: string, made: Sides, runs: number): Record<string, number> => {
  const size = made.wanted.length;
  const expected = size + Math.ceil(size / 100);
  const times: number[] = [];
  const growths: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    globalThis.gc?.();
    const [heap, started] = [heapMb(), performance.now()];
    planned(made, expected);
    times.push(performance.now() - started);
    growths.push(heapMb() - heap);
  }
  return {
    [`${name}_${size}_ms`]: Math.round(median(times) * 100) / 100,
    [`${name}_${size}_heap_mb`]: Math.round(Math.max(...growths) * 10) / 10,
  };
};

/**
 * Plans `size` entries against as many, 1 % to create and 1 % to destroy: `plan` joins by sorted ids, `keyed` by keys in no
 * order. Medians in ms, the largest growth of the heap in MB, and the time of one idempotency key in µs.
 */
export const run = async (): Promise<Record<string, number>> => {
  const figures: Record<string, number> = {};
  for (const size of sizes) {
    const runs = size < 100_000 ? 51 : 5;
    Object.assign(
      figures,
      measure(
        'plan',
        sides(size, (index) => `m${pad(index)}`),
        runs,
      ),
    );
    Object.assign(figures, measure('keyed', sides(size, scattered), runs));
  }
  const started = performance.now();
  for (let index = 0; index < 10_000; index += 1) idempotencyKey('stack/enrollment/nfs', pad(index), 'content');
  figures.idempotency_key_us = Math.round((performance.now() - started) * 10) / 100;
  return figures;
};
