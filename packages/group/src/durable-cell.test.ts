import { describe, expect, test } from 'vitest';
import { durableCell } from './durable-cell.ts';

const gated = () => {
  const written: number[][] = [];
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const write = (value: number[]): Promise<void> =>
    new Promise((resolve, reject) => {
      written.push(value);
      open.push({ resolve, reject });
    });
  return { written, open, cell: durableCell<number[]>([], write) };
};

const add = (n: number) => (now: number[]) => [...now, n];

describe('a durable cell', () => {
  test('changes that wait for a write share the next one, in order (Law 8)', async () => {
    const { written, open, cell } = gated();
    const all = [1, 2, 3, 4].map((n) => cell.update(add(n)));
    open[0]?.resolve();
    expect(await all[0]).toEqual([1]);
    await Promise.resolve();
    open[1]?.resolve();
    expect(await Promise.all(all)).toEqual([[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]);
    expect(written).toEqual([[1], [1, 2, 3, 4]]);
  });

  test('nothing can be read that is not written', async () => {
    const { open, cell } = gated();
    const update = cell.update(add(1));
    expect(cell.get()).toEqual([]);
    open[0]?.resolve();
    await update;
    expect(cell.get()).toEqual([1]);
  });

  test('a write that fails takes its changes back, and the next one is made on what was there', async () => {
    const { written, open, cell } = gated();
    const first = cell.update(add(1));
    const second = cell.update(add(2));
    open[0]?.reject(new Error('no disk'));
    await expect(first).rejects.toThrow('no disk');
    open[1]?.resolve();
    expect(await second).toEqual([2]);
    expect(written).toEqual([[1], [2]]);
  });

  test('a change that throws refuses itself alone; one that changes nothing writes nothing', async () => {
    const { written, cell } = gated();
    const bad = cell.update(() => {
      throw new Error('refused');
    });
    await expect(bad).rejects.toThrow('refused');
    expect(await cell.update((now) => now)).toEqual([]);
    expect(written).toEqual([]);
  });
});
