import { describe, expect, test } from 'vitest';
import { testingContext } from '../contract/testing-context.ts';
import { memoryInstance } from './memory-instance.ts';
import { memoryWorld } from './memory-world.ts';

const ctx = testingContext();
const spec = { Properties: {}, Tags: {}, Init: '', LogicalID: null, Attachments: null };

describe('a memory world', () => {
  test('Law 8: counts what was written, Law 7: and what was made', async () => {
    const { instance, world } = memoryInstance();
    await instance.describe({ tags: {}, properties: true }, ctx);
    expect([world.writes(), world.made()]).toEqual([0, 0]);
    const keyed = { ...ctx, idempotencyKey: 'k' };
    const { id } = await instance.provision({ spec }, keyed);
    await instance.provision({ spec }, keyed);
    await instance.label({ id, labels: { a: '1' } }, ctx);
    expect([world.writes(), world.made()]).toEqual([3, 1]);
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect([world.writes(), world.made(), world.all().length]).toEqual([4, 1, 0]);
  });

  test('a foreign thing of null tags matches an empty query only', async () => {
    const { instance, world } = memoryInstance();
    const id = await world.addForeign(null);
    const ids = async (tags: Record<string, string>) => {
      const listing = await instance.describe({ tags, properties: false }, ctx);
      return listing.kind === 'instances' && listing.instances.map(({ ID }) => ID);
    };
    expect(await ids({})).toEqual([id]);
    expect(await ids({ a: '1' })).toEqual([]);
  });

  test('an answer is kept while the world stands still', async () => {
    const { instance, world } = memoryInstance({ world: memoryWorld({ newId: () => 'the-id' }) });
    await instance.provision({ spec }, ctx);
    const query = { tags: {}, properties: false };
    const first = await instance.describe(query, ctx);
    expect(await instance.describe(query, ctx)).toBe(first);
    await world.changeBehind('the-id');
    expect(await instance.describe(query, ctx)).not.toBe(first);
  });

  test('a stalled world answers when it goes on', async () => {
    const { instance, world } = memoryInstance();
    const goOn = world.stall();
    const answer = instance.provision({ spec }, ctx);
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.made()).toBe(0);
    goOn();
    await answer;
    expect(world.made()).toBe(1);
  });
});
