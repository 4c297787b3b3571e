import { describe, expect, it } from 'vitest';
import { rpcAnswers } from './rpc-answers.ts';

const limits = { maxCount: 3, maxBytes: 10_000, keepMs: 1_000 };
const make = (changes: Partial<typeof limits> = {}) => {
  const clock = { now: 0 };
  return { clock, answers: rpcAnswers({ ...limits, ...changes }, () => clock.now) };
};
const bytes = (length: number) => 'x'.repeat(length);

describe('answers that were given (DESIGN §3 RPC: a retried request gets its stored answer)', () => {
  it('are there by key, and another key is another answer', () => {
    const { answers } = make();
    const answer = bytes(5);
    answers.put('a', answer);
    expect(answers.get('a')).toBe(answer);
    expect(answers.get('b')).toBeUndefined();
  });

  it('are kept for a time', () => {
    const { answers, clock } = make();
    answers.put('a', bytes(5));
    clock.now = 999;
    expect(answers.get('a')).toBeDefined();
    clock.now = 1_000;
    expect(answers.get('a')).toBeUndefined();
    expect(answers.heldBytes()).toBe(0);
  });

  it('are bounded in number: the oldest goes', () => {
    const { answers } = make();
    for (const key of ['a', 'b', 'c', 'd']) answers.put(key, bytes(5));
    expect(['a', 'b', 'c', 'd'].map((key) => answers.get(key) !== undefined)).toEqual([false, true, true, true]);
  });

  it('are bounded in bytes, keys and small ones counted', () => {
    const { answers } = make({ maxCount: 1_000_000 });
    for (let n = 0; n < 1_000; n += 1) {
      answers.put(`key ${n}`, bytes(n));
      expect(answers.heldBytes()).toBeLessThanOrEqual(limits.maxBytes);
    }
    expect(answers.get('key 999')).toBeDefined();
    expect(answers.get('key 0')).toBeUndefined();
  });

  it('one larger than all the room is not kept, and drives out no other', () => {
    const { answers } = make();
    answers.put('a', bytes(5));
    answers.put('b', bytes(10_000));
    expect(answers.get('b')).toBeUndefined();
    expect(answers.get('a')).toBeDefined();
  });

  it('of two under one key the newer stays', () => {
    const { answers } = make();
    answers.put('a', bytes(5));
    const held = answers.heldBytes();
    answers.put('a', bytes(5));
    expect(answers.heldBytes()).toBe(held);
  });
});
