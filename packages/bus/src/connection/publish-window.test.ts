import { describe, expect, test } from 'vitest';
import { publishWindow } from './publish-window.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Enters with each size in turn; notes who is in. */
const crowd = (limits: Parameters<typeof publishWindow>[0]) => {
  const room = publishWindow(limits);
  const inside = new Map<number, () => void>();
  const refused: string[] = [];
  return {
    inside: () => [...inside.keys()],
    refused,
    enter: (name: number, bytes: number, signal = never) => {
      room.enter(bytes, signal).then(
        (leave) => inside.set(name, leave),
        (error: { code?: string }) => refused.push(`${name} ${error.code ?? String(error)}`),
      );
    },
    leave: (name: number) => {
      inside.get(name)?.();
      inside.delete(name);
    },
  };
};

describe('what may be on its way to a broker (issue 4: backpressure)', () => {
  test('no more than the count, the next when one leaves, in order', async () => {
    const room = crowd({ maxCount: 2, maxBytes: 100, maxWaitingBytes: 100 });
    for (const name of [1, 2, 3, 4]) room.enter(name, 1);
    await settled();
    expect(room.inside()).toEqual([1, 2]);
    room.leave(2);
    await settled();
    expect(room.inside()).toEqual([1, 3]);
    room.leave(1);
    room.enter(5, 1);
    await settled();
    expect(room.inside()).toEqual([3, 4]);
  });

  test('no more than the bytes; a small one does not overtake a large one', async () => {
    const room = crowd({ maxCount: 10, maxBytes: 10, maxWaitingBytes: 100 });
    room.enter(1, 6);
    room.enter(2, 6);
    room.enter(3, 1);
    await settled();
    expect(room.inside()).toEqual([1]);
    room.leave(1);
    await settled();
    expect(room.inside()).toEqual([2, 3]);
  });

  test('one that is larger than the window goes alone', async () => {
    const room = crowd({ maxCount: 10, maxBytes: 10, maxWaitingBytes: 100 });
    room.enter(1, 1);
    room.enter(2, 50);
    room.enter(3, 1);
    await settled();
    expect(room.inside()).toEqual([1]);
    room.leave(1);
    await settled();
    expect(room.inside()).toEqual([2]);
    room.leave(2);
    await settled();
    expect(room.inside()).toEqual([3]);
  });

  test('what would wait beyond the bound is refused; who gives up makes room', async () => {
    const room = crowd({ maxCount: 1, maxBytes: 100, maxWaitingBytes: 10 });
    const caller = new AbortController();
    room.enter(1, 1);
    room.enter(2, 8, caller.signal);
    room.enter(3, 8);
    await settled();
    expect(room.refused).toEqual(['3 BUS_UNAVAILABLE']);
    caller.abort('gave up');
    room.enter(4, 8);
    await settled();
    expect(room.refused).toEqual(['3 BUS_UNAVAILABLE', '2 gave up']);
    room.leave(1);
    await settled();
    expect(room.inside()).toEqual([4]);
  });

  test('leaving twice frees the room once', async () => {
    const room = publishWindow({ maxCount: 1, maxBytes: 100, maxWaitingBytes: 100 });
    const leave = await room.enter(1, never);
    leave();
    leave();
    await room.enter(1, never);
    const next = room.enter(1, never).then(() => 'in');
    expect(await Promise.race([next, settled().then(() => 'waits')])).toBe('waits');
  });
});
