import { topicsUnder } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from '../connection/connection.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { type RetainedSubtreeOptions, retainedSubtree } from './retained-subtree.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');

const scene = (options: Partial<RetainedSubtreeOptions> = {}) => {
  const broker = memoryBroker({ after: realAfter, log });
  const connection = broker.connect({ clientId: 'c' });
  const published: string[] = [];
  const spying: Connection = {
    ...connection,
    publish: (topic, payload, how) => {
      published.push(`${topic}=${payload}`);
      return connection.publish(topic, payload, how);
    },
  };
  const subtree = retainedSubtree({
    connection: spying,
    topics,
    filters: ['own/#'],
    after: realAfter,
    log,
    ...options,
  });
  const other = broker.connect({ clientId: 'other' });
  const write = (topic: string, payload: string) => other.publish(topic, payload, { qos: 1, retain: true });
  const there = (): Record<string, string> =>
    Object.fromEntries([...broker.retained()].map(([topic, payload]) => [topic, Buffer.from(payload).toString()]));
  return { broker, subtree, published, write, there, connection };
};

describe('retainedSubtree (DESIGN §3)', () => {
  it('publishes what is missing or wrong after a reconnect, and nothing that is there already', async () => {
    const { broker, subtree, published, there, write, connection } = scene();
    for (const name of ['same', 'wrong', 'missing']) subtree.set(`own/${name}`, '1');
    await subtree.settled(1_000);
    broker.freeze();
    broker.sever(connection.clientId);
    const changes = [write('own/wrong', 'theirs'), write('own/missing', '')];
    broker.thaw();
    await Promise.all(changes);
    await vi.waitFor(() => expect(there()).toEqual({ 'own/same': '1', 'own/wrong': '1', 'own/missing': '1' }));
    expect(published.filter((each) => each === 'own/same=1')).toHaveLength(1);
    subtree.close();
  });

  it('the same again is not published', async () => {
    const { subtree, published } = scene();
    for (let n = 0; n < 3; n += 1) {
      subtree.set('own/a', '1');
      await subtree.settled(1_000);
    }
    expect(published).toEqual(['own/a=1']);
    subtree.close();
  });

  it('a reconnect to a broker that kept everything publishes nothing; to one that lost it, everything', async () => {
    const { broker, subtree, published, there } = scene();
    for (const n of [1, 2, 3]) subtree.set(`own/${n}`, String(n));
    await subtree.settled(1_000);
    broker.restart({ keepRetained: true });
    await vi.waitFor(() => subtree.settled(100));
    expect(published).toHaveLength(3);
    broker.restart({ keepRetained: false });
    await vi.waitFor(() => expect(there()).toEqual({ 'own/1': '1', 'own/2': '2', 'own/3': '3' }));
    expect(published).toHaveLength(6);
    subtree.close();
  });

  it('the newest payload is the last, however fast they come', async () => {
    const { subtree, there, published } = scene();
    for (let n = 0; n < 1_000; n += 1) subtree.set('own/a', String(n));
    await subtree.settled(1_000);
    expect(there()).toEqual({ 'own/a': '999' });
    expect(published.length).toBeLessThan(10);
    subtree.clear('own/a');
    subtree.set('own/a', 'back');
    subtree.clear('own/a');
    await subtree.settled(1_000);
    expect(there()).toEqual({});
    subtree.close();
  });

  it('clears what nobody wants, when it may', async () => {
    let may = false;
    const { broker, subtree, there, write } = scene({ mayClear: (topic) => may && topic !== 'own/keep' });
    await write('own/old', '1');
    await write('own/keep', '1');
    broker.restart({ keepRetained: true });
    subtree.set('own/new', '1');
    await vi.waitFor(() => expect(there()).toHaveProperty('own/new'));
    expect(Object.keys(there()).sort()).toEqual(['own/keep', 'own/new', 'own/old']);
    may = true;
    subtree.review();
    await vi.waitFor(() => expect(Object.keys(there()).sort()).toEqual(['own/keep', 'own/new']));
    subtree.close();
  });

  it('puts right what others clear; what others write only where nobody else has a reason to', async () => {
    for (const isExclusive of [true, false]) {
      const { subtree, there, write } = scene({ isExclusive });
      subtree.set('own/cleared', '1');
      subtree.set('own/written', '1');
      await subtree.settled(1_000);
      await write('own/written', 'theirs');
      await write('own/cleared', '');
      await vi.waitFor(() => expect(there()['own/cleared']).toBe('1'));
      expect(there()['own/written']).toBe(isExclusive ? '1' : 'theirs');
      subtree.close();
    }
  });

  it('while it is not the one to write it publishes nothing, and all of it afterwards', async () => {
    let isWriting = false;
    const { subtree, there, write, published } = scene({ isWriting: () => isWriting });
    subtree.set('own/a', 'mine');
    await write('own/a', 'theirs');
    await expect(subtree.settled(100)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    expect(published).toEqual([]);
    isWriting = true;
    subtree.review();
    await subtree.settled(1_000);
    expect(there()).toEqual({ 'own/a': 'mine' });
    subtree.close();
  });

  it('settled fails at once when the connection is closed (Law 10)', async () => {
    const { subtree, connection } = scene();
    await subtree.settled(1_000);
    await connection.close();
    subtree.set('own/a', '1');
    await expect(subtree.settled(60_000)).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    subtree.close();
  });

  it('what the broker refuses for good is not tried again and again', async () => {
    const errors: unknown[] = [];
    const refusing = { ...log, error: (facts: unknown) => errors.push(facts) };
    const { subtree } = scene({ log: refusing });
    await subtree.settled(1_000);
    subtree.set('own/#', '1');
    subtree.set('own/a', '1');
    await subtree.settled(1_000);
    expect(errors).toHaveLength(1);
    subtree.close();
  });
});
