import { AppError } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import type { ConnectionStatus } from './connection.ts';
import type { Link, LinkListener } from './link.ts';
import { linkedConnection } from './linked-connection.ts';

interface Logged {
  readonly level: string;
  readonly message: string;
}

/** A connection whose links, waits and log a test holds in its hands. */
const bench = () => {
  const logged: Logged[] = [];
  const write = (level: string) => (_facts: unknown, message: string) => logged.push({ level, message });
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const listeners: LinkListener[] = [];
  const waits: { previousMs: number; code: string }[] = [];
  const sent: string[] = [];
  const acknowledge: (() => void)[] = [];
  let drops = 0;
  const link: Link = {
    protocol: 'memory',
    maxInFlight: 2,
    maxPacketBytes: 1_000,
    publish: (topic) =>
      new Promise((resolve) => {
        sent.push(topic);
        acknowledge.push(resolve);
      }),
    subscribe: async (requests) =>
      requests.map(({ filter }) => (filter === 'denied' ? new AppError('BUS_REFUSED', 'no') : undefined)),
    unsubscribe: async () => {},
    end: () => new Promise(() => {}),
  };
  const connection = linkedConnection(
    {
      clientId: 'bench',
      broker: 'the bench',
      open: (listener) => {
        listeners.push(listener);
        return () => {
          drops += 1;
        };
      },
      waitMs: (previousMs, error) => {
        waits.push({ previousMs, code: error.code });
        return previousMs + 1;
      },
      timeoutMs: 1_000,
    },
    { after: (ms, run) => realAfter(ms / 10, run), log },
  );
  const statuses: ConnectionStatus[] = [];
  connection.status.subscribe((status) => statuses.push(status));
  return { connection, link, listeners, waits, logged, sent, acknowledge, statuses, drops: () => drops };
};

const down = (code: 'BUS_REFUSED' | 'BUS_UNAVAILABLE' = 'BUS_UNAVAILABLE') => new AppError(code, 'gone');
const message = { topic: 't', payload: new Uint8Array(), retain: false, qos: 0 } as const;

describe('a connection over one link after the other', () => {
  test('waits longer with each failure in a row and tells what failed; a link starts anew', async () => {
    const { listeners, waits, link } = bench();
    const fail = async (count: number) => {
      listeners[count - 1]?.down(down());
      await expect.poll(() => listeners.length).toBe(count + 1);
    };
    await fail(1);
    await fail(2);
    listeners[2]?.up(link);
    await fail(3);
    expect(waits).toEqual([0, 1, 0].map((previousMs) => ({ previousMs, code: 'BUS_UNAVAILABLE' })));
  });

  test('a lost link is a warning once; attempts that fail after it are not', async () => {
    const { listeners, link, logged } = bench();
    listeners[0]?.up(link);
    listeners[0]?.down(down());
    await expect.poll(() => listeners.length).toBe(2);
    listeners[1]?.down(down());
    expect(logged.filter(({ level }) => level === 'warn')).toEqual([{ level: 'warn', message: 'disconnected' }]);
  });

  test('what a handler throws is logged, with every message', () => {
    const { connection, listeners, link, logged } = bench();
    listeners[0]?.up(link);
    connection.subscribe('t', 0, () => {
      throw new Error('bad handler');
    });
    listeners[0]?.message(message);
    expect(logged).toEqual([{ level: 'error', message: 'message handler failed' }]);
  });

  test('a subscription that the broker refuses says so, also to whoever asks later', async () => {
    const { connection, listeners, link } = bench();
    listeners[0]?.up(link);
    const denied = connection.subscribe('denied', 1, () => undefined);
    await expect(denied.ready()).rejects.toMatchObject({ code: 'BUS_REFUSED' });
    await expect(denied.ready()).rejects.toMatchObject({ code: 'BUS_REFUSED' });
    await connection.subscribe('allowed', 1, () => undefined).ready();
  });

  test('a flood waits: no more is under way than the broker takes, also when callers have given up', async () => {
    const { connection, listeners, link, sent, acknowledge } = bench();
    listeners[0]?.up(link);
    const publishes = ['a', 'b', 'c', 'd'].map((topic) => connection.publish(topic, 'x', { qos: 1, timeoutMs: 100 }));
    const results = await Promise.allSettled(publishes);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
    expect(sent).toEqual(['a', 'b']);
    const next = connection.publish('e', 'x', { qos: 1, timeoutMs: 60_000 });
    acknowledge[0]?.();
    await expect.poll(() => sent).toEqual(['a', 'b', 'e']);
    acknowledge[2]?.();
    await next;
  });

  test('what is larger than the broker takes is refused', async () => {
    const { connection, listeners, link, sent } = bench();
    listeners[0]?.up(link);
    const publish = connection.publish('big', new Uint8Array(1_001), { qos: 1 });
    await expect(publish).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(sent).toEqual([]);
  });

  test('closed while it waits for a link or for the next attempt: it tries no more', async () => {
    const first = bench();
    await first.connection.close();
    expect([first.drops(), first.statuses.at(-1)?.kind]).toEqual([1, 'closed']);
    const second = bench();
    second.listeners[0]?.down(down());
    await second.connection.close();
    await new Promise((resolve) => realAfter(5, () => resolve(undefined)));
    expect(second.listeners.length).toBe(1);
  });

  test('a goodbye that hangs ends with the link dropped', async () => {
    const { connection, listeners, link, drops } = bench();
    listeners[0]?.up(link);
    await connection.close();
    expect(drops()).toBe(1);
  });
});
