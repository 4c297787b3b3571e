import { describe, expect, it } from 'vitest';
import { type Clock, virtualClock } from './clock.ts';
import { workerPool } from './worker-pool.ts';

const wait = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
const never = () => new Promise<never>(() => undefined);

describe('workerPool (DESIGN §4, Law 9)', () => {
  it('answers and rejects as the task does', async () => {
    const pool = workerPool({ concurrency: 2 });
    expect(await pool.run('rule', async () => 7)).toBe(7);
    await expect(pool.run('rule', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const threw = pool.run('rule', () => {
      throw new Error('broken at once');
    });
    await expect(threw).rejects.toThrow('broken at once');
    expect(await pool.run('rule', async () => 8)).toBe(8);
    expect(pool.load()).toEqual({ waiting: 0, running: 0 });
  });

  it('has at most `concurrency` in progress, and that many while work waits', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 3 });
    let running = 0;
    const seen = new Set<number>();
    const tasks = Array.from({ length: 12 }, (_, n) =>
      pool.run(`rule ${n % 4}`, async () => {
        seen.add(++running);
        await wait(clock, 10);
        running--;
      }),
    );
    expect(pool.load()).toEqual({ waiting: 9, running: 3 });
    await clock.advance(40);
    await Promise.all(tasks);
    expect(clock.now()).toBe(40);
    expect(Math.max(...seen)).toBe(3);
  });

  it('a burst leaves the event loop its turns: what came in meanwhile is served before the last task has begun', async () => {
    const pool = workerPool({ concurrency: 1_000, perTurn: 10 });
    let begun = 0;
    const tasks = Array.from({ length: 100 }, () =>
      pool.run('rule', async () => {
        begun += 1;
      }),
    );
    expect(begun).toBe(10);
    const whenServed = new Promise<number>((resolve) => setImmediate(() => setImmediate(() => resolve(begun))));
    expect(await whenServed).toBeLessThan(100);
    await Promise.all(tasks);
    expect(begun).toBe(100);
  });

  it('one rule with 10,000 items does not starve the others: queues take turns', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 2 });
    const order: string[] = [];
    const add = (name: string, count: number) => {
      for (let n = 0; n < count; n++) {
        void pool.run(name, async () => {
          order.push(name);
          await wait(clock, 10);
        });
      }
    };
    add('big', 10_000);
    add('small', 3);
    add('other', 2);
    await clock.advance(40);
    expect(order).toEqual(['big', 'big', 'small', 'other', 'big', 'small', 'other', 'big', 'small', 'big']);
  });

  it('within a queue the order is that of the calls', async () => {
    const pool = workerPool({ concurrency: 1 });
    const order: number[] = [];
    await Promise.all(Array.from({ length: 100 }, (_, n) => pool.run('rule', async () => order.push(n))));
    expect(order).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });

  it('a queue at its own limit leaves the free places to others', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 3, perQueue: 1 });
    const started: string[] = [];
    const task = (name: string) => () => {
      started.push(name);
      return wait(clock, 10);
    };
    const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => pool.run(name.slice(0, 1), task(name)));
    expect(started).toEqual(['a1', 'b1']);
    await clock.advance(10);
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2']);
    await clock.advance(20);
    await Promise.all(all);
    expect(started).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('a task that runs others from within does not break the limit', async () => {
    const pool = workerPool({ concurrency: 2 });
    const inner: Promise<number>[] = [];
    const outer = pool.run('rule', async () => {
      for (let n = 0; n < 5; n++) inner.push(pool.run('rule', async () => pool.load().running));
      return pool.load().running;
    });
    expect(await outer).toBe(2);
    expect(Math.max(...(await Promise.all(inner)))).toBeLessThanOrEqual(2);
  });

  it('an abort before the turn rejects with RPC_CANCELLED and never starts the task', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 1 });
    const controller = new AbortController();
    let isStarted = false;
    const first = pool.run('rule', () => wait(clock, 10));
    const start = async () => {
      isStarted = true;
    };
    const aborted = pool.run('rule', start, { signal: controller.signal });
    const next = pool.run('rule', async () => 'next');
    controller.abort('no longer wanted');
    await expect(aborted).rejects.toMatchObject({ code: 'RPC_CANCELLED', cause: 'no longer wanted' });
    await expect(pool.run('rule', start, { signal: controller.signal })).rejects.toMatchObject({
      code: 'RPC_CANCELLED',
    });
    expect(pool.load()).toEqual({ waiting: 1, running: 1 });
    await clock.advance(10);
    await first;
    expect(await next).toBe('next');
    expect(isStarted).toBe(false);
  });

  it('an abort in progress reaches the task and the caller at once; the place is free when the task ends', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 1 });
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const task = (signal: AbortSignal) => {
      seen = signal;
      return wait(clock, 10);
    };
    const aborted = pool.run('rule', task, { signal: controller.signal });
    const next = pool.run('rule', async () => 'next');
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
    expect(seen?.aborted).toBe(true);
    expect(pool.load()).toEqual({ waiting: 1, running: 1 });
    await clock.advance(10);
    expect(await next).toBe('next');
  });

  it('close cancels what waits and runs, refuses what comes, and resolves when all has ended', async () => {
    const clock = virtualClock();
    const pool = workerPool({ concurrency: 1 });
    let isStarted = false;
    const outcomes = [
      pool.run('a', () => wait(clock, 10)),
      pool.run('b', async () => {
        isStarted = true;
      }),
    ].map((run) => expect(run).rejects.toMatchObject({ code: 'RPC_CANCELLED' }));
    let isClosed = false;
    const closed = pool.close().then(() => {
      isClosed = true;
    });
    await Promise.all(outcomes);
    await expect(pool.run('c', async () => 1)).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
    expect({ isStarted, isClosed }).toEqual({ isStarted: false, isClosed: false });
    await clock.advance(10);
    await closed;
    expect(pool.load()).toEqual({ waiting: 0, running: 0 });
  });

  it('close of an idle pool resolves at once, a second one too', async () => {
    const pool = workerPool({ concurrency: 1 });
    await pool.close();
    await pool.close();
  });

  it('20,000 waiting tasks on one signal are cancelled together, without a warning', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    const pool = workerPool({ concurrency: 1 });
    const controller = new AbortController();
    const runs = Array.from({ length: 20_000 }, (_, n) => pool.run(`${n % 100}`, never, { signal: controller.signal }));
    controller.abort();
    const outcomes = await Promise.allSettled(runs);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(pool.load().waiting).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});
