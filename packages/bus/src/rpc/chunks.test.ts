import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChunkLimits, chunkAssembler, chunksOf } from './chunks.ts';

/** A clock that a test turns. */
const handClock = () => {
  let now = 0;
  const timers = new Map<object, { at: number; run: () => void }>();
  return {
    nowMs: () => now,
    after: (ms: number, run: () => void) => {
      const key = {};
      timers.set(key, { at: now + ms, run });
      return () => timers.delete(key);
    },
    pending: () => timers.size,
    advance: (ms: number) => {
      now += ms;
      for (const [key, { at, run }] of timers) {
        if (at > now) continue;
        timers.delete(key);
        run();
      }
    },
  };
};

const limits: ChunkLimits = { maxMessageBytes: 10_000, maxBytes: 20_000, maxCount: 5, maxIdleMs: 1_000 };
const make = (changes: Partial<ChunkLimits> = {}) => {
  const clock = handClock();
  return { clock, assembler: chunkAssembler({ ...limits, ...changes }, clock) };
};
const none = Buffer.alloc(0);
const text = (assembled: { kind: string; bytes?: Uint8Array }) => Buffer.from(assembled.bytes ?? []).toString();

describe('messages in pieces (DESIGN §3 RPC: complete or an error)', () => {
  it('a small message travels as it is', () => {
    const message = '{"jsonrpc":"2.0"}';
    const payload = Buffer.from(message);
    expect([...chunksOf('c', message, 100)]).toEqual([payload]);
    expect(make().assembler.add('t', payload)).toEqual({ kind: 'complete', bytes: payload });
  });

  it('any message in pieces of any size, in any order, each piece any number of times, is put together exactly once more', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 300, unit: fc.constantFrom('a', '"', 'é', '€', '🐄') }),
        fc.integer({ min: 1, max: 50 }),
        fc.infiniteStream(fc.nat()),
        (message, chunkBytes, random) => {
          const { assembler } = make({ maxMessageBytes: 1_000_000, maxBytes: 1_000_000 });
          const pieces = [...chunksOf('c', message, chunkBytes)];
          if (pieces.length === 1) return;
          const order = pieces.flatMap((piece, n) => (n % 3 === 0 ? [piece, piece] : [piece]));
          const shuffled = order
            .map((piece) => ({ piece, at: random.next().value ?? 0 }))
            .sort((left, right) => left.at - right.at)
            .map(({ piece }) => piece);
          // A piece that comes again after the message is complete begins a message that nobody completes.
          const all = shuffled.map((piece) => assembler.add('t', piece));
          const complete = all.filter(({ kind }) => kind === 'complete');
          expect(complete).toHaveLength(1);
          expect(complete.map((one) => text(one) === message)).toEqual([true]);
        },
      ),
    );
  });

  it('a message that looks like a piece travels in pieces', () => {
    const message = '{"chunk":"x","n":0,"of":1}\nevil';
    const [piece = none] = chunksOf('c', message, 1_000);
    expect(text(make().assembler.add('t', piece))).toBe(message);
  });

  it('nothing comes of a message without one of its pieces, and what was kept of it goes', () => {
    const { assembler, clock } = make();
    const pieces = [...chunksOf('c', 'x'.repeat(100), 10)];
    for (const piece of pieces.slice(1)) expect(assembler.add('t', piece)).toEqual({ kind: 'partial' });
    expect(assembler.heldBytes()).toBeGreaterThan(90);
    clock.advance(1_000);
    expect(assembler.heldBytes()).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it('a message that still comes in is kept longer than the idle time', () => {
    const { assembler, clock } = make();
    const pieces = [...chunksOf('c', 'x'.repeat(50), 10)];
    const results = pieces.map((piece) => {
      clock.advance(900);
      return assembler.add('t', piece).kind;
    });
    expect(results).toEqual(['partial', 'partial', 'partial', 'partial', 'complete']);
    expect(assembler.heldBytes()).toBe(0);
  });

  it('the same id on another topic is another message', () => {
    const { assembler } = make();
    const [le = none, ft = none] = chunksOf('c', 'left', 2);
    const [ri = none, gh = none] = chunksOf('c', 'RIGH', 2);
    assembler.add('t1', le);
    assembler.add('t2', ri);
    expect(text(assembler.add('t1', ft))).toBe('left');
    expect(text(assembler.add('t2', gh))).toBe('RIGH');
  });

  it('keeps a copy: what the client does with its buffer afterwards changes nothing', () => {
    const { assembler } = make();
    const [first = none, second = none] = chunksOf('c', 'abcd', 2);
    assembler.add('t', first);
    first.fill(0);
    expect(text(assembler.add('t', second))).toBe('abcd');
  });
});

describe('bounds (DESIGN §3: memory is bounded)', () => {
  const begin = (id: string, bytes = 1) =>
    Buffer.concat([Buffer.from(`{"chunk":"${id}","n":0,"of":2}\n`), Buffer.alloc(bytes)]);
  const finish = (id: string) => Buffer.from(`{"chunk":"${id}","n":1,"of":2}\n`);

  it('of too many messages begun, the one that has waited longest goes', () => {
    const { assembler } = make();
    for (const id of ['a', 'b', 'c', 'd', 'e']) assembler.add('t', begin(id));
    assembler.add('t', begin('f'));
    expect(assembler.add('t', finish('b')).kind).toBe('complete');
    expect(assembler.add('t', finish('f')).kind).toBe('complete');
    expect(assembler.add('t', finish('a')).kind).toBe('partial');
  });

  it('a flood of pieces never holds more than the bound', () => {
    const { assembler } = make({ maxCount: 1_000_000 });
    for (let n = 0; n < 5_000; n += 1) {
      assembler.add('t', begin(`m${n}`, n % 3_000));
      expect(assembler.heldBytes()).toBeLessThanOrEqual(limits.maxBytes);
    }
    expect(assembler.add('t', finish('m4999')).kind).toBe('complete');
  });

  it('long topics and empty pieces count too', () => {
    const { assembler } = make({ maxCount: 1_000_000 });
    for (let n = 0; n < 1_000; n += 1) assembler.add(`${'t'.repeat(5_000)}${n}`, begin('m', 0));
    expect(assembler.heldBytes()).toBeLessThanOrEqual(limits.maxBytes);
    expect(assembler.heldBytes()).toBeGreaterThan(10_000);
  });

  it('a message beyond the bound is bad, and what was kept of it goes', () => {
    const { assembler } = make();
    const piece = (n: number) => Buffer.concat([Buffer.from(`{"chunk":"c","n":${n},"of":9}\n`), Buffer.alloc(4_000)]);
    expect([0, 1, 2].map((n) => assembler.add('t', piece(n)).kind)).toEqual(['partial', 'partial', 'bad']);
    expect(assembler.heldBytes()).toBe(0);
    expect(assembler.add('t', Buffer.from('{"chunk":"c","n":0,"of":9000000}\n')).kind).toBe('bad');
    expect(assembler.heldBytes()).toBe(0);
  });

  it('pieces that do not agree on their number are bad and do not disturb the message', () => {
    const { assembler } = make();
    assembler.add('t', begin('c', 0));
    expect(assembler.add('t', Buffer.from('{"chunk":"c","n":2,"of":3}\n')).kind).toBe('bad');
    expect(assembler.add('t', finish('c')).kind).toBe('complete');
  });

  it.each(['{"chunk":"a"', '{"chunk":"a","n":0,"of":2}', '{"chunk":"a","n":2,"of":2}\n', '{"chunk":1,"n":0,"of":2}\n'])(
    'a piece with the first line %j is bad',
    (line) => expect(make().assembler.add('t', Buffer.from(line)).kind).toBe('bad'),
  );

  it('closing forgets all and leaves no timer', () => {
    const { assembler, clock } = make();
    assembler.add('t', begin('c'));
    assembler.close();
    expect([assembler.heldBytes(), clock.pending()]).toEqual([0, 0]);
  });
});
