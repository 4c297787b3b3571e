import { describe, expect, test } from 'vitest';
import { testingContext } from '../contract/testing-context.ts';
import type { Instance } from '../instance.ts';
import { type Fault, faulty, firstCalls, type InstanceFaults } from './faulty-instance.ts';
import { memoryInstance } from './memory-instance.ts';

const ctx = testingContext();
const spec = (name: string) => ({ Properties: {}, Tags: { name }, Init: '', LogicalID: null, Attachments: null });

const setUp = () => {
  const { instance: inner, world } = memoryInstance();
  const faults: InstanceFaults = {};
  const due: { readonly ms: number; readonly run: () => void }[] = [];
  const after = (ms: number, run: () => void): (() => void) => {
    due.push({ ms, run });
    return () => undefined;
  };
  const instance = faulty(inner, faults, { after });
  const provision = async (name: string) => (await instance.provision({ spec: spec(name) }, ctx)).id;
  return { instance, world, faults, due, provision };
};

const names = async (instance: Instance, digest?: string) => {
  const known = digest === undefined ? {} : { digest };
  const listing = await instance.describe({ tags: {}, properties: false, ...known }, ctx);
  return listing.kind === 'unchanged' ? listing.kind : listing.instances.map(({ Tags }) => Tags?.name);
};

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  promise.then(
    () => (settled = true),
    () => (settled = true),
  );
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
};

describe('an instance with injected faults', () => {
  test('without faults is the instance', async () => {
    const { instance, provision } = setUp();
    await provision('a');
    expect(await names(instance)).toEqual(['a']);
  });

  test('an error does not act, and ends when the fault is taken away', async () => {
    const { world, faults, provision } = setUp();
    faults.provision = { kind: 'error' };
    await expect(provision('a')).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
    faults.provision = { kind: 'error', code: 'PLUGIN_UNAVAILABLE' };
    await expect(provision('a')).rejects.toMatchObject({ code: 'PLUGIN_UNAVAILABLE' });
    expect(world.all()).toEqual([]);
    faults.provision = undefined;
    await provision('a');
    expect(world.all()).toHaveLength(1);
  });

  test('a timeout neither acts nor answers', async () => {
    const { world, faults, provision } = setUp();
    faults.provision = { kind: 'timeout' };
    expect(await isSettled(provision('a'))).toBe(false);
    expect(world.all()).toEqual([]);
  });

  test('a lost answer has acted', async () => {
    const { world, faults, provision } = setUp();
    faults.provision = { kind: 'lose-answer' };
    await expect(provision('a')).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
    expect(world.all()).toHaveLength(1);
  });

  test('a late answer has acted before it comes', async () => {
    const { world, faults, due, provision } = setUp();
    faults.provision = { kind: 'late', ms: 700 };
    const answer = provision('a');
    expect(await isSettled(answer)).toBe(false);
    expect(world.all()).toHaveLength(1);
    expect(due.map(({ ms }) => ms)).toEqual([700]);
    due[0]?.run();
    expect(await answer).toBe(world.all()[0]?.ID);
  });

  test('what cannot be decoded has acted', async () => {
    const { instance, world, faults } = setUp();
    faults.provision = { kind: 'undecodable' };
    expect(await instance.provision({ spec: spec('a') }, ctx)).not.toHaveProperty('id');
    expect(world.all()).toHaveLength(1);
  });

  test('a short list has a digest of its own, which is "unchanged" while it stays as short', async () => {
    const { instance, faults, provision } = setUp();
    await provision('a');
    await provision('b');
    const full = await instance.describe({ tags: {}, properties: false }, ctx);
    faults.describe = { kind: 'short', isDropped: ({ Tags }) => Tags?.name === 'b' };
    expect(await names(instance, full.digest)).toEqual(['a']);
    const short = await instance.describe({ tags: {}, properties: false }, ctx);
    expect(await names(instance, short.digest)).toBe('unchanged');
    faults.describe = undefined;
    expect(await names(instance, short.digest)).toEqual(['a', 'b']);
  });

  test('delayed visibility shows each new entry only after so many describes', async () => {
    const { instance, faults, provision } = setUp();
    await provision('before');
    faults.describe = { kind: 'delay-visibility', describes: 2 };
    await provision('a');
    expect(await names(instance)).toEqual(['before']);
    await provision('b');
    expect(await names(instance)).toEqual(['before']);
    expect(await names(instance)).toEqual(['before', 'a']);
    expect(await names(instance)).toEqual(['before', 'a', 'b']);
  });

  test('a fault can be chosen by what is asked, and by the number of the call', async () => {
    const { world, faults, provision } = setUp();
    const error: Fault = { kind: 'error' };
    faults.provision = (params) => (params.spec.Tags.name === 'bad' ? error : undefined);
    await expect(provision('bad')).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
    await provision('good');
    faults.provision = firstCalls(2, error);
    await expect(provision('c')).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
    await expect(provision('c')).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
    await provision('c');
    expect(world.all().map(({ Tags }) => Tags?.name)).toEqual(['good', 'c']);
  });
});
