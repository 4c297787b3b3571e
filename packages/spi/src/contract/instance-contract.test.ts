import { describe, expect, test } from 'vitest';
import { direct } from '../direct.ts';
import { type Instance, instanceInterface } from '../instance.ts';
import { faulty } from '../reference/faulty-instance.ts';
import { memoryInstanceSubject } from '../reference/memory-instance-subject.ts';
import type { MemoryWorld } from '../reference/memory-world.ts';
import { instanceContract } from './instance-contract.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

const deps = { after: realAfter };

describe('the instance contract', () => {
  test('the memory instance passes every case', async () => {
    const results = await runContract(instanceContract, () => memoryInstanceSubject(), deps);
    expect(results.filter(({ kind }) => kind === 'failed')).toEqual([]);
    expect(results.filter(({ kind }) => kind === 'skipped').map(({ name }) => name)).toEqual([
      'a refused label changes nothing',
    ]);
  });

  test('a memory instance that refuses labels passes, the cases of label skipped with the reason', async () => {
    const results = await runContract(instanceContract, () => memoryInstanceSubject({ isRelabelRefused: true }), deps);
    expect(results.filter(({ kind }) => kind === 'failed')).toEqual([]);
    const skipped = results.filter((result) => result.kind === 'skipped');
    expect(skipped.map(({ reason }) => reason)).toEqual(Array(4).fill('the plugin cannot relabel'));
  });

  test('a direct call to the memory instance passes: deadline, codes and frozen results change nothing', async () => {
    const wrap = (instance: Instance): Instance => direct(instanceInterface, instance, deps);
    const results = await runContract(instanceContract, () => memoryInstanceSubject({ wrap }), deps);
    expect(results.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });

  test('an instance that shows new entries late passes where it says so, and fails where it does not', async () => {
    const wrap = (instance: Instance): Instance =>
      faulty(instance, { describe: { kind: 'delay-visibility', describes: 2 } }, deps);
    const failed = async (isEventuallyConsistent: boolean) => {
      const results = await runContract(
        instanceContract,
        () => memoryInstanceSubject({ wrap, isEventuallyConsistent }),
        deps,
      );
      return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
    };
    expect(await failed(true)).toEqual([]);
    expect(await failed(false)).toContain('a provisioned instance is described with its id and tags');
  });

  test('the suite leaves nothing of its own behind', async () => {
    const worlds: MemoryWorld[] = [];
    const wrap = (instance: Instance, world: MemoryWorld): Instance => {
      worlds.push(world);
      return instance;
    };
    await runContract(instanceContract, () => memoryInstanceSubject({ wrap }), deps);
    expect(worlds.flatMap((world) => world.all())).toEqual([]);
  });
});
