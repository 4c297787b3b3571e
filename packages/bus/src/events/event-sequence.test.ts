import { type EventSequence, PublishedEvent } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { eventNumbers, gapFinder } from './event-sequence.ts';

describe('eventNumbers (DESIGN §3)', () => {
  it('counts each topic from 1, under one nonce', () => {
    const number = eventNumbers('n1.2');
    const nonce = number('a').Nonce;
    expect([number('a'), number('b'), number('a')].map(({ Seq }) => Seq)).toEqual([2, 1, 3]);
    expect(number('a').Nonce).toBe(nonce);
    expect(nonce).toMatch(/^n1\.2\./);
  });

  it('a topic that was forgotten begins anew under another nonce, which others see as a gap', () => {
    const number = eventNumbers('n1.1');
    const see = gapFinder();
    const first = number('old');
    see('old', first);
    for (let n = 0; n < 10_000; n += 1) number(`t${n}`);
    const again = number('old');
    expect(again).toMatchObject({ Seq: 1 });
    expect(again.Nonce).not.toBe(first.Nonce);
    expect(see('old', again).kind).toBe('gap');
  });
});

describe('gapFinder (DESIGN §3)', () => {
  const kinds = (sequences: readonly Partial<EventSequence>[]): string[] => {
    const see = gapFinder();
    return sequences.map((sequence) => see('t', sequence).kind);
  };
  const at = (Seq: number, Nonce = 'n'): EventSequence => ({ Nonce, Seq });

  it.each([
    ['the first is never a gap', [at(7)], ['next']],
    ['one after the other', [at(1), at(2), at(3)], ['next', 'next', 'next']],
    ['one lost', [at(1), at(3)], ['next', 'gap']],
    ['one that comes again', [at(1), at(2), at(2), at(1), at(3)], ['next', 'next', 'seen', 'seen', 'next']],
    ['another incarnation', [at(5), at(1, 'm')], ['next', 'gap']],
    ['no numbers', [{}, {}, at(1), {}], ['next', 'next', 'next', 'next']],
  ])('%s', (_, sequences, expected) => {
    expect(kinds(sequences)).toEqual(expected);
  });

  it('topics are apart, and says how many are missing', () => {
    const see = gapFinder();
    see('a', at(1));
    expect(see('b', at(9))).toEqual({ kind: 'next' });
    expect(see('a', at(4))).toEqual({ kind: 'gap', reason: '2 events are missing' });
  });
});

describe('PublishedEvent', () => {
  it('is an event with or without a number', () => {
    const event = { Topic: 'a', ID: 'i', Timestamp: 't' };
    expect(PublishedEvent.parse(event)).toEqual({ ...event, Message: '' });
    expect(PublishedEvent.parse({ ...event, Nonce: 'n', Seq: 1 })).toMatchObject({ Nonce: 'n', Seq: 1 });
    for (const bad of [{ Nonce: '' }, { Seq: 0 }, { Seq: 1.5 }, { Other: 1 }]) {
      expect(PublishedEvent.safeParse({ ...event, ...bad }).success).toBe(false);
    }
  });
});
