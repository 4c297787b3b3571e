import { describe, expect, it } from 'vitest';
import { brokerSessions } from './broker-sessions.ts';

const open = (bounds: { maxQueuedMessages?: number; maxBytes?: number; loaded?: [string, Buffer][] } = {}) => {
  const saved: string[] = [];
  const dropped: string[] = [];
  const sessions = brokerSessions({
    loaded: [],
    maxQueuedMessages: 100,
    maxBytes: 100_000,
    ...bounds,
    save: (key, value) => void saved.push(`${key}=${value}`),
    forget: (key) => void saved.push(`${key}=undefined`),
    saveNew: (key, { make }) => void saved.push(`${key}=${make()}`),
    onDropped: (clientId) => void dropped.push(clientId),
  });
  const { db } = sessions;
  const values = async (gte: string, lt: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const value of db.values({ gte, lt })) found.push(String(value));
    return found;
  };
  return { ...sessions, values, saved, dropped };
};

const value = (text: string): Buffer => Buffer.from(text);

describe('the sessions of a broker', () => {
  it('are a database in the order of the keys: put, get, ranges, batches, deletion; each change is saved', async () => {
    const { db, values, saved, bytes } = open();
    await db.put('outgoing:a:b:2', value('second'));
    await db.put('outgoing:a:b:1', value('first'));
    await db.batch([
      { type: 'put', key: 'outgoing:ab:b:1', value: value('other') },
      { type: 'del', key: 'nothing' },
    ]);
    expect(await values('outgoing:a:', 'outgoing:a;')).toEqual(['first', 'second']);
    expect(String(await db.get('outgoing:a:b:1'))).toBe('first');
    expect(await db.get('nothing')).toBeUndefined();
    const chain = db.batch();
    chain.del('outgoing:a:b:1');
    expect(await values('outgoing:a:', 'outgoing:a;')).toHaveLength(2);
    await chain.write();
    await db.clear({ gte: 'outgoing:ab:', lt: 'outgoing:ab;' });
    expect(await values('outgoing:', 'outgoing;')).toEqual(['second']);
    await db.del('outgoing:a:b:2');
    expect(bytes()).toBe(0);
    expect(saved).toEqual([
      'outgoing:a:b:2=second',
      'outgoing:a:b:1=first',
      'outgoing:ab:b:1=other',
      'outgoing:a:b:1=undefined',
      'outgoing:ab:b:1=undefined',
      'outgoing:a:b:2=undefined',
    ]);
  });

  it('hold so many messages for one client and no more; others are not touched; a read message makes room', async () => {
    const { db, dropped, values } = open({ maxQueuedMessages: 2, loaded: [['outgoing:a%3A:b:1', value('kept')]] });
    await db.put('outgoing:a%3A:b:2', value('x'));
    await db.put('outgoing:a%3A:b:3', value('x'));
    await db.put('outgoing:a%3A:b:2', value('again'));
    await db.put('outgoing:other:b:1', value('x'));
    expect(dropped).toEqual(['a:']);
    await db.del('outgoing:a%3A:b:1');
    await db.put('outgoing:a%3A:b:4', value('x'));
    expect(dropped).toHaveLength(1);
    expect(await values('outgoing:a', 'outgoing:b')).toEqual(['again', 'x']);
  });

  it('hold so many bytes together and no more; subscriptions and wills always fit', async () => {
    const { db, dropped, bytes } = open({ maxBytes: 100 });
    await db.put('outgoing:a:b:1', Buffer.alloc(80));
    await db.put('outgoing:c:b:1', Buffer.alloc(80));
    await db.put('incoming:d:1', Buffer.alloc(80));
    await db.put('subscriptions:a:t', Buffer.alloc(80));
    await db.put('will:a', Buffer.alloc(80));
    expect(dropped).toEqual(['c', 'd']);
    expect(bytes()).toBe(80 * 3 + 'outgoing:a:b:1subscriptions:a:twill:a'.length);
  });
});
