import { AppError } from '@infrakit/core';
import type { CallContext, Controller, RuleProgress } from '@infrakit/spi';
import { expect, test } from 'vitest';
import type { VerbCall } from './verb.ts';
import { destroyAndWait, type WaitOptions, waitIfWanted } from './wait.ts';

const working: RuleProgress = { kind: 'working', reason: '1 of 3 members' };
const converged: RuleProgress = { kind: 'converged' };

/** A call of a verb on a controller whose rule is said to be as the next of `told`, the last one again and again. */
const callOf = (told: readonly (RuleProgress | Error | null)[], options: Partial<WaitOptions> = {}) => {
  const notes: string[] = [];
  let asked = 0;
  const status: Controller['status'] = async () => {
    const now = told[Math.min(asked, told.length - 1)];
    asked += 1;
    if (now instanceof Error) throw now;
    const found = { name: 'a', revision: 1, phase: 'active' as const };
    return { statuses: now === null || now === undefined ? [] : [{ ...found, progress: now }] };
  };
  const { signal } = new AbortController();
  const call = {
    object: { name: 'mystack/a', plugin: 'mystack', object: 'a', interfaces: new Map(), proxyFor: 'group/a' },
    session: {
      plugins: { resolve: () => ({ status }) },
      ctx: (timeoutMs = 10_000): CallContext => ({ signal, timeoutMs }),
    },
    streams: { stdout: { isTTY: false } },
    options: { wait: true, timeout: '5s', ...options },
    note: (sentence: string) => void notes.push(sentence),
    signal,
  } as unknown as VerbCall<WaitOptions>;
  return { call, notes, asked: () => asked };
};

test('DESIGN §6: nothing is waited for unless that is asked for, or stdout is a terminal', async () => {
  const { call, asked } = callOf([working]);
  const { wait: _, ...options } = call.options;
  expect(await waitIfWanted({ ...call, options }, 'a')).toBe(0);
  expect(asked()).toBe(0);
});

test('what has converged when the command is answered is not waited for', async () => {
  const { call, notes, asked } = callOf([converged]);
  expect(await waitIfWanted(call, 'a')).toBe(0);
  expect({ asked: asked(), notes }).toEqual({ asked: 1, notes: [] });
});

test('progress is told once for as long as it stays the same, and a plugin that is away for a moment ends no wait', async () => {
  const away = new AppError('PLUGIN_UNAVAILABLE', 'group is not there');
  const { call, notes } = callOf([working, working, away, converged]);
  expect(await waitIfWanted(call, 'a')).toBe(0);
  expect(notes).toEqual(['a: 1 of 3 members', 'a: group is not there']);
});

test('Law 6: a held rule ends the wait with 2 and says what to type, an entry without a key with 2 as well', async () => {
  const held = callOf([working, { kind: 'held', reason: 'too many', plan: 'p1' }]);
  expect(await waitIfWanted(held.call, 'a')).toBe(2);
  expect(held.notes.at(-1)).toBe(
    'a is held: too many; to let them through: infrakit local mystack/a approve --plan p1',
  );
  const quarantined = callOf([{ kind: 'quarantined', reason: '1 entries have no usable key' }]);
  expect(await waitIfWanted(quarantined.call, 'a')).toBe(2);
});

test('when the time is up it is 3, and the work goes on; a rule that is gone is an error', async () => {
  const late = callOf([working], { timeout: '150ms' });
  expect(await waitIfWanted(late.call, 'a')).toBe(3);
  expect(late.notes.at(-1)).toBe('a has not converged within 150ms; the work goes on');
  await expect(waitIfWanted(callOf([null]).call, 'a')).rejects.toMatchObject({ code: 'RULE_NOT_FOUND' });
});

test('a destroy that is waited for has the time of the wait, and is asked for again after its plugin was away', async () => {
  const { call } = callOf([working]);
  const times: number[] = [];
  const destroy = async ({ timeoutMs }: CallContext): Promise<object> => {
    times.push(timeoutMs);
    if (times.length === 1) throw new AppError('PLUGIN_UNAVAILABLE', 'its process ended');
    if (times.length === 2) throw new AppError('GROUP_NOT_FOUND', 'it is gone');
    return {};
  };
  expect(await destroyAndWait(call, 'a', destroy)).toBe(0);
  expect(times).toHaveLength(2);
  expect(times[0]).toBeGreaterThan(4_900);
});

test('a destroy that takes longer than the wait is 3, what is not there to begin with is an error', async () => {
  const { call, notes } = callOf([working], { timeout: '250ms' });
  const slow = ({ timeoutMs }: CallContext): Promise<never> =>
    new Promise((_, reject) => setTimeout(() => reject(new AppError('RPC_TIMEOUT', 'no answer')), timeoutMs));
  expect(await destroyAndWait(call, 'a', slow)).toBe(3);
  expect(notes).toEqual(['a: 1 of 3 members', 'a is not gone within 250ms; the work goes on']);
  const missing = (): Promise<never> => Promise.reject(new AppError('OBJECT_UNKNOWN', 'no such object'));
  await expect(destroyAndWait(call, 'a', missing)).rejects.toMatchObject({ code: 'OBJECT_UNKNOWN' });
});
