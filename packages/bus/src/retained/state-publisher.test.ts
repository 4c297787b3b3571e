import { topicsUnder } from '@infrakit/core';
import type { After, ObjectState } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { memoryBroker } from '../connection/memory-broker.ts';
import { virtualTime } from '../virtual-time.ts';
import { statePublisher } from './state-publisher.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const topics = topicsUnder('infrakit');
const state: ObjectState = { kind: 'k', revision: 1, specHash: '', conditions: [], counts: {}, digest: '' };

const scene = (after: After) => {
  const broker = memoryBroker({ after, log });
  const other = broker.connect({ clientId: 'other' });
  const start = (incarnation: string) =>
    statePublisher({
      connection: broker.connect({ clientId: incarnation }),
      ...{ topics, plugin: 'group', incarnation, term: () => undefined, isWriting: () => true, after, log },
    });
  const there = (): Record<string, { readonly incarnation: string; readonly seq: number }> =>
    Object.fromEntries(
      [...broker.retained()].map(([topic, payload]) => [topic, JSON.parse(Buffer.from(payload).toString())]),
    );
  return { other, start, there };
};

describe('statePublisher (DESIGN §3)', () => {
  it('publishes at most 500 ms after the first change of a burst', async () => {
    const time = virtualTime();
    const { start, there } = scene(time.after);
    const states = start('n1.1');
    await time.advance(1_000);
    for (let n = 0; n < 10; n += 1) {
      states.publish('a', { ...state, revision: n });
      await time.advance(49);
    }
    expect(there()['infrakit/state/group/a']).toBeDefined();
    states.close();
  });

  it('a heartbeat is one state of the plugin itself with a new number, and none where nothing has a state', async () => {
    const time = virtualTime();
    const { start, there } = scene(time.after);
    const states = start('n1.1');
    await time.advance(1_000);
    expect(states.heartbeat()).toBe(false);
    states.publish('a', state);
    await time.advance(1_000);
    for (const seq of [1, 2]) {
      expect(states.heartbeat()).toBe(true);
      await time.advance(10);
      expect(there()['infrakit/state/group/-']).toMatchObject({ kind: 'plugin', seq });
    }
    expect(there()['infrakit/state/group/a']).toMatchObject({ seq: 1 });
    states.close();
  });

  it('states of an earlier incarnation stay for a minute, then those that nobody knows are cleared', async () => {
    const time = virtualTime();
    const { start, there } = scene(time.after);
    const before = start('n1.1');
    before.publish('kept', state);
    before.publish('forgotten', state);
    await time.advance(1_000);
    before.close();
    const states = start('n2.1');
    states.publish('kept', state);
    await time.advance(30_000);
    expect(there()['infrakit/state/group/kept']?.incarnation).toBe('n2.1');
    expect(there()['infrakit/state/group/forgotten']?.incarnation).toBe('n1.1');
    await time.advance(40_000);
    expect(Object.keys(there())).toEqual(['infrakit/state/group/kept']);
    states.clear('kept');
    await time.advance(1_000);
    expect(there()).toEqual({});
    states.close();
  });
});
