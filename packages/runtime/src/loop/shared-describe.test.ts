import { describe, expect, it } from 'vitest';
import { virtualClock } from '../work/clock.ts';
import { sharedDescribes, type Unchanged } from './shared-describe.ts';

interface Disks {
  readonly kind: 'instances';
  readonly digest: string;
  readonly instances: { ID: string; Tags: Record<string, string> }[];
}

/** A sink with one content, whose describes end when the test says so. */
const slowSink = () => {
  let ids = ['a'];
  const sent: (string | undefined)[] = [];
  const waiting: { answer: () => void; fail: (error: Error) => void }[] = [];
  const listing = (): Disks => ({
    kind: 'instances',
    digest: ids.join(),
    instances: ids.map((ID) => ({ ID, Tags: { name: ID } })),
  });
  const read = (digest: string | undefined): Promise<Disks | Unchanged> => {
    sent.push(digest);
    const seen = listing();
    return new Promise((resolve, reject) => {
      const answer = () => resolve(seen.digest === digest ? { kind: 'unchanged', digest } : seen);
      waiting.push({ answer, fail: reject });
    });
  };
  return {
    sent,
    read,
    become: (...next: string[]) => {
      ids = next;
    },
    answer: () => {
      for (const call of waiting.splice(0)) call.answer();
    },
    fail: () => {
      for (const call of waiting.splice(0)) call.fail(new Error('sink is down'));
    },
  };
};

const setUp = (windowMs = 100) => {
  const clock = virtualClock();
  const sink = slowSink();
  const shared = sharedDescribes<Disks>(windowMs, clock);
  const ask = (options?: { digest?: string; since?: number }, filter = 'all') =>
    shared.describe('disks', filter, sink.read, options);
  const ids = async (answer: Promise<Disks | Unchanged>) => {
    const listing = await answer;
    return listing.kind === 'unchanged' ? listing : listing.instances.map(({ ID }) => ID);
  };
  return { clock, sink, shared, ask, ids };
};

describe('sharedDescribes (DESIGN §4)', () => {
  it('rules that ask at the same time share one describe, other filters and sinks do not', async () => {
    const { sink, shared, ask, ids } = setUp();
    const answers = [ask(), ask(), ask({}, 'other'), shared.describe('volumes', 'all', sink.read)];
    sink.answer();
    expect(await Promise.all(answers.map(ids))).toEqual([['a'], ['a'], ['a'], ['a']]);
    expect(sink.sent).toHaveLength(3);
  });

  it('a listing serves until the window after the beginning of its describe is over', async () => {
    const { clock, sink, ask, ids } = setUp();
    const first = ask();
    await clock.advance(60);
    sink.answer();
    await first;
    sink.become('b');
    await clock.advance(39);
    expect(await ids(ask())).toEqual(['a']);
    await clock.advance(1);
    const renewed = ask();
    sink.answer();
    expect(await ids(renewed)).toEqual(['b']);
  });

  it('a window of 0 shares nothing', async () => {
    const { sink, ask } = setUp(0);
    const answers = [ask(), ask()];
    sink.answer();
    await Promise.all(answers);
    expect(sink.sent).toHaveLength(2);
  });

  it('a describe that hangs is joined for a window only (Law 10)', async () => {
    const { clock, sink, ask } = setUp();
    void ask();
    void ask();
    await clock.advance(100);
    void ask();
    expect(sink.sent).toHaveLength(2);
  });

  it('a trigger newer than a describe is not answered by it (Law 8)', async () => {
    const { clock, sink, ask, ids } = setUp();
    const before = ask();
    sink.become('a', 'b');
    await clock.advance(10);
    const triggered = [ask({ since: 5 }), ask({ since: 5 })];
    sink.answer();
    expect(await ids(before)).toEqual(['a']);
    expect(await Promise.all(triggered.map(ids))).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(sink.sent).toHaveLength(2);
  });

  it('an error reaches all who wait and is not kept', async () => {
    const { sink, ask, ids } = setUp();
    const failed = Promise.allSettled([ask(), ask()]);
    sink.fail();
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask();
    sink.answer();
    expect(await ids(next)).toEqual(['a']);
    expect(sink.sent).toHaveLength(2);
  });

  it('a read that throws at once is an error, not kept either', async () => {
    const { shared, sink, ids } = setUp();
    const broken = () => {
      throw new Error('no such sink');
    };
    await expect(shared.describe('disks', 'all', broken)).rejects.toThrow('no such sink');
    const next = shared.describe('disks', 'all', sink.read);
    sink.answer();
    expect(await ids(next)).toEqual(['a']);
  });
});

describe('sharedDescribes and writes (GP-S4: the cache was cleared before the write only)', () => {
  it('a describe begun before a write is not kept, even when it ends after it', async () => {
    const { sink, shared, ask, ids } = setUp();
    const before = ask();
    await shared.write('disks', async () => sink.become('a', 'b'));
    sink.answer();
    expect(await ids(before)).toEqual(['a']);
    const after = ask();
    sink.answer();
    expect(await ids(after)).toEqual(['a', 'b']);
  });

  it('a describe begun during a write is not kept, even when it ends before it', async () => {
    const { sink, shared, ask, ids } = setUp();
    await shared.write('disks', async () => {
      const during = ask();
      sink.answer();
      expect(await ids(during)).toEqual(['a']);
      sink.become('b');
    });
    const after = ask();
    sink.answer();
    expect(await ids(after)).toEqual(['b']);
  });

  it('one who asks during a write gets nothing from before it', async () => {
    const { sink, shared, ask } = setUp();
    const before = ask();
    sink.answer();
    await before;
    await shared.write('disks', async () => {
      void ask();
    });
    expect(sink.sent).toHaveLength(2);
  });

  it('a write that fails may have written: it drops as well, and its error passes', async () => {
    const { sink, shared, ask } = setUp();
    const write = shared.write('disks', async () => {
      const during = ask();
      sink.answer();
      await during;
      throw new Error('lost the answer');
    });
    await expect(write).rejects.toThrow('lost the answer');
    void ask();
    expect(sink.sent).toHaveLength(2);
  });

  it('a write of one sink leaves the listings of others', async () => {
    const { sink, shared, ask } = setUp();
    const first = ask();
    sink.answer();
    await first;
    shared.invalidate('volumes');
    await ask();
    expect(sink.sent).toHaveLength(1);
  });
});

describe('sharedDescribes and digests (DESIGN §3: an idle resync moves nothing)', () => {
  it('a caller that has the digest gets unchanged, another on the same describe the listing', async () => {
    const { sink, ask, ids } = setUp();
    const answers = [ask({ digest: 'a' }), ask({ digest: 'old' }), ask()];
    sink.answer();
    expect(await Promise.all(answers.map(ids))).toEqual([{ kind: 'unchanged', digest: 'a' }, ['a'], ['a']]);
  });

  it('past the window the sink is sent the last digest, and its unchanged stands for the listing', async () => {
    const { clock, sink, ask, ids } = setUp();
    const first = ask();
    sink.answer();
    const listing = await first;
    await clock.advance(100);
    const idle = ask();
    sink.answer();
    expect(await idle).toBe(listing);
    await clock.advance(100);
    sink.become('b');
    const changed = ask({ digest: 'a' });
    sink.answer();
    expect(await ids(changed)).toEqual(['b']);
    expect(sink.sent).toEqual([undefined, 'a', 'a']);
  });

  it('no digest is sent after a write', async () => {
    const { sink, shared, ask } = setUp();
    const first = ask();
    sink.answer();
    await first;
    await shared.write('disks', async () => undefined);
    void ask();
    expect(sink.sent).toEqual([undefined, undefined]);
  });

  it('unchanged to a digest that was not sent is RESULT_INVALID', async () => {
    const { shared } = setUp();
    const answer = shared.describe('disks', 'all', async () => ({ kind: 'unchanged', digest: 'x' }), { digest: 'x' });
    await expect(answer).rejects.toMatchObject({ code: 'RESULT_INVALID' });
  });
});

describe('sharedDescribes shares no references (EI-P5)', () => {
  it('listings are frozen all through, and are not what the sink holds', async () => {
    const held: Disks = { kind: 'instances', digest: '1', instances: [{ ID: 'a', Tags: { name: 'a' } }] };
    const shared = sharedDescribes<Disks>(100, virtualClock());
    const listing = await shared.describe('disks', 'all', async () => held);
    const tags = held.instances[0]?.Tags ?? {};
    tags.name = 'changed by the sink';
    expect(listing).toEqual({ kind: 'instances', digest: '1', instances: [{ ID: 'a', Tags: { name: 'a' } }] });
    if (listing.kind === 'unchanged') throw new Error('expected a listing');
    const [disk] = listing.instances;
    expect([listing, listing.instances, disk, disk?.Tags].every(Object.isFrozen)).toBe(true);
    expect(() => listing.instances.pop()).toThrow(TypeError);
  });
});
