import { configHash } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { groupWorld, sizedSpec } from './group-world.ts';

const { Instance, Flavor } = sizedSpec('cattle', 1).properties as { Instance: object; Flavor: object };
const hash = configHash(Instance, Flavor);
const old = { 'infrakit.group': 'cattle', 'infrakit.config.hash': hash };

describe('members that are there before the group (GP §1.6, DESIGN §4)', () => {
  test('those of the old system are taken over by a label, and nobody is made or destroyed', async () => {
    const at = groupWorld();
    const ids = [await at.world.addForeign(old), await at.world.addForeign(old)];
    await at.start();
    await at.commit(sizedSpec('cattle', 2));
    await at.run();
    expect(at.calls.filter((call) => /^(provision|destroy)/.test(call))).toEqual([]);
    expect(ids.map((id) => at.tagsOf(id))).toEqual([
      { ...old, 'infrakit.slot': '0' },
      { ...old, 'infrakit.slot': '1' },
    ]);
    expect(await at.known()).toMatchObject({ count: 2 });
  });

  test('L4, S5: one that asks to be adopted gets the group, the hash of the present configuration and a slot', async () => {
    const at = groupWorld();
    const id = await at.world.addForeign({ ...old, 'infrakit.config.hash': 'bootstrap', mine: 'yes' });
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run();
    expect(at.tagsOf(id)).toEqual({ ...old, mine: 'yes', 'infrakit.slot': '0' });
    expect(at.calls.filter((call) => call.startsWith('label'))).toHaveLength(1);
    expect(await at.state()).toMatchObject({ Converged: true });
  });

  test('L3: what is labelled is not labelled again', async () => {
    const at = groupWorld();
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run(60_000);
    expect(at.calls.filter((call) => call.startsWith('label'))).toEqual([]);
  });

  test('S6, L5: a label that fails destroys nobody, and is tried again', async () => {
    const at = groupWorld();
    at.faults.label = { kind: 'error' };
    const id = await at.world.addForeign({ ...old, 'infrakit.config.hash': 'bootstrap' });
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run(5_000);
    expect(at.ids()).toEqual([id]);
    at.faults.label = undefined;
    await at.run(30_000);
    expect(at.tagsOf(id)['infrakit.config.hash']).toBe(hash);
  });

  test('a sink that refuses labels keeps the binding in the journal, over restarts too', async () => {
    const at = groupWorld({ isRelabelRefused: true });
    const plain = await at.world.addForeign(old);
    const bootstrap = await at.world.addForeign({ ...old, 'infrakit.config.hash': 'bootstrap' });
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run();
    const { length } = at.calls.filter((call) => call.startsWith('label'));
    expect(at.ids()).toHaveLength(3);
    expect(at.calls.filter((call) => call.startsWith('provision'))).toEqual(['provision 2']);
    await at.kill();
    await at.start();
    await at.commit(sizedSpec('cattle', 3));
    await at.run(60_000);
    expect(at.calls.filter((call) => call.startsWith('label'))).toHaveLength(length);
    expect(at.ids()).toEqual(expect.arrayContaining([plain, bootstrap]));
    expect(await at.state()).toMatchObject({ Converged: true });
  });

  test('too many of them: the surplus goes, by the order of G-2', async () => {
    const at = groupWorld();
    const outdated = await at.world.addForeign({ ...old, 'infrakit.config.hash': 'other' });
    const [, last] = [await at.world.addForeign(old), await at.world.addForeign(old)];
    await at.start();
    await at.commit(sizedSpec('cattle', 1));
    await at.run(5_000);
    expect(at.ids()).toEqual([last]);
    expect(at.ids()).not.toContain(outdated);
  });
});
