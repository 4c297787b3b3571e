import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';

/** Timers that fire when a test says how much time has passed. */
const timers = () => {
  let nowMs = 0;
  const armed = new Map<() => void, number>();
  const after = (ms: number, run: () => void): (() => void) => {
    const call = () => run();
    armed.set(call, nowMs + ms);
    return () => void armed.delete(call);
  };
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const [call, dueMs] of [...armed]) {
      if (dueMs > nowMs || !armed.delete(call)) continue;
      call();
    }
  };
  return { after, pass, armed: () => armed.size };
};

const never = (): Promise<never> => new Promise(() => {});

test('Law 10: work that ignores its signal is late at its deadline, and is told to stop', async () => {
  const { after, pass, armed } = timers();
  let own: AbortSignal | undefined;
  const result = withDeadline(
    (signal) => {
      own = signal;
      return never();
    },
    { after, what: 'a call', timeoutMs: 100 },
  );
  pass(99);
  expect(own?.aborted).toBe(false);
  pass(1);
  await expect(result).rejects.toMatchObject({ code: 'RPC_TIMEOUT', facts: { timeoutMs: 100 } });
  expect(own?.aborted).toBe(true);
  expect(armed()).toBe(0);
});

test.each([
  ['with a maximum', 250, 250],
  ['without one, not at all', undefined, 100],
  ['with a maximum that is no longer than the deadline, not at all', 100, 100],
])('Law 10: work that goes on telling that it goes on has more time, %s', async (_, maxTimeoutMs, lastsMs) => {
  const { after, pass } = timers();
  let tell = (): void => undefined;
  let ended: unknown;
  withDeadline(
    (_signal, extend) => {
      tell = extend;
      return never();
    },
    { after, what: 'a call', timeoutMs: 100, ...(maxTimeoutMs === undefined ? {} : { maxTimeoutMs }) },
  ).catch((error: unknown) => {
    ended = error;
  });
  for (let ms = 10; ms < lastsMs; ms += 10) {
    pass(10);
    tell();
    await Promise.resolve();
    expect(ended).toBeUndefined();
  }
  pass(10);
  await new Promise(setImmediate);
  expect(ended).toMatchObject({ code: 'RPC_TIMEOUT', facts: { timeoutMs: lastsMs } });
});

test('a caller that gives up is let go at once, and one that had given up before does not begin', async () => {
  const { after, armed } = timers();
  const caller = new AbortController();
  const given = withDeadline(never, { after, what: 'a call', timeoutMs: 100, signal: caller.signal });
  caller.abort();
  await expect(given).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
  let hasBegun = false;
  const late = withDeadline(
    async () => {
      hasBegun = true;
    },
    { after, what: 'a call', timeoutMs: 100, signal: caller.signal },
  );
  await expect(late).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
  expect(hasBegun).toBe(false);
  expect(armed()).toBe(0);
});

test('what the work answers or throws in time passes, and leaves no timer', async () => {
  const { after, armed } = timers();
  const options = { after, what: 'a call', timeoutMs: 100, maxTimeoutMs: 200 };
  await expect(withDeadline(async () => 7, options)).resolves.toBe(7);
  const throws = (): Promise<never> => {
    throw new Error('at once');
  };
  await expect(withDeadline(throws, options)).rejects.toThrow('at once');
  expect(armed()).toBe(0);
});
