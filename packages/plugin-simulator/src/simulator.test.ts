import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HealthCheck, Route } from '@infrakit/core';
import {
  direct,
  type Instance,
  type InstanceSubject,
  instanceContract,
  instanceInterface,
  type LoadBalancer,
  type LoadBalancerSubject,
  loadBalancerContract,
  loadBalancerInterface,
  realAfter,
  testingContext,
} from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { openInstanceTable } from './instance-table.ts';
import { pretence } from './pretence.ts';
import { simulatedInstance } from './simulated-instance.ts';
import { openSimulatedLoadBalancer } from './simulated-loadbalancer.ts';
import { SimulatorOptions } from './simulator-options.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ctx = testingContext();
const deps = { nowMs: Date.now, random: Math.random, log };

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'simulator-'));

let incarnations = 0;

const openInstance = async (path: string | null, options: Partial<SimulatorOptions> = {}) => {
  const table = await openInstanceTable(path, deps);
  incarnations += 1;
  const facts = {
    endpoint: 'simulator',
    incarnation: `n${incarnations}`,
    pretence: pretence({ ...SimulatorOptions.parse({}), ...options }, deps),
  };
  return { table, instance: direct(instanceInterface, simulatedInstance(table, facts), { after: realAfter }) };
};

const instanceSubject = (store: 'file' | 'mem') => async (): Promise<InstanceSubject & AsyncDisposable> => {
  const folder = await newFolder();
  const path = store === 'file' ? join(folder, 'compute.log') : null;
  let { instance, table } = await openInstance(path);
  return {
    get instance(): Instance {
      return instance;
    },
    properties: (n) => ({ size: n }),
    describedProperties: (n) => ({ size: n }),
    invalidProperties: { simulator_cap: -1 },
    keepsLogicalId: true,
    isRelabelRefused: false,
    hasIdempotencyKeys: true,
    takesTerms: true,
    isEventuallyConsistent: false,
    longList: 500,
    world: {
      addForeign: async (tags) => {
        const id = table.newId();
        const description = { ID: id, LogicalID: null, Tags: { ...tags } };
        await table.put({ description, init: '', attachments: null });
        return id;
      },
      changeBehind: async (id) => {
        const thing = table.find(id);
        if (thing !== undefined) await table.put({ ...thing, description: { ...thing.description, State: 'changed' } });
      },
      removeBehind: (id) => table.remove(id),
    },
    ...(store === 'file' && {
      restart: async () => {
        await table.close();
        ({ instance, table } = await openInstance(path));
      },
    }),
    [Symbol.asyncDispose]: async () => {
      await table.close();
      await rm(folder, { recursive: true });
    },
  };
};

describe('in files', () => contractTests(instanceContract, instanceSubject('file')));
describe('in memory', () => contractTests(instanceContract, instanceSubject('mem')));

const route = (n: number): Route => ({
  Port: 8000 + n,
  Protocol: 'TCP',
  LoadBalancerPort: 20_000 - n * 3_000,
  LoadBalancerProtocol: 'TCP',
  Certificate: null,
  HealthMonitorPath: null,
});

const healthCheck = (n: number, variant: number): HealthCheck => ({
  BackendPort: 8000 + n,
  Healthy: variant,
  Unhealthy: variant + 1,
  Interval: 1e10,
  Timeout: 5e9,
});

contractTests(loadBalancerContract, async (): Promise<LoadBalancerSubject & AsyncDisposable> => {
  const folder = await newFolder();
  const pretend = pretence(SimulatorOptions.parse({}), deps);
  const open = (name: string) =>
    openSimulatedLoadBalancer(join(folder, `${name}.log`), { name, pretence: pretend, log });
  const checked = (loadBalancer: LoadBalancer) => direct(loadBalancerInterface, loadBalancer, { after: realAfter });
  let opened = await open('lb1');
  const neighbour = await open('lb2');
  return {
    get loadBalancer() {
      return checked(opened.loadBalancer);
    },
    name: 'lb1',
    route,
    otherRoute: (n) => ({ ...route(n), Port: 9000 + n }),
    backend: (n) => `backend-${9 - n}`,
    healthCheck,
    isEventuallyConsistent: false,
    neighbour: checked(neighbour.loadBalancer),
    restart: async () => {
      await opened.close();
      opened = await open('lb1');
    },
    [Symbol.asyncDispose]: async () => {
      await opened.close();
      await neighbour.close();
      await rm(folder, { recursive: true });
    },
  };
});

describe('the simulator', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(() => rm(folder, { recursive: true }));

  const provision = (instance: Instance, properties: unknown = {}, key?: string) =>
    instance.provision(
      { spec: { Properties: properties, Tags: {}, Init: 'run', LogicalID: null, Attachments: null } },
      { ...ctx, ...(key !== undefined && { idempotencyKey: key }) },
    );

  test('GP-P11: simulator_cap is never exceeded, however many come at once', async () => {
    const { instance, table } = await openInstance(null);
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => provision(instance, { simulator_cap: 4 })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    expect(table.count()).toBe(4);
    await expect(provision(instance, { simulator_cap: 4 })).rejects.toThrow('at capacity 4');
  });

  test('GP-P2, EI-E23: delays are durations or nanoseconds; GP-P13: a delay holds up nobody else, Init is kept', async () => {
    expect(SimulatorOptions.parse({ ProvisionDelay: '1.5s', DescribeDelay: 2_000_000 })).toMatchObject({
      ProvisionDelay: 1_500,
      DescribeDelay: 2,
    });
    const { instance, table } = await openInstance(null);
    const slow = provision(instance, { simulator_delay: '50ms' });
    const { id } = await provision(instance);
    expect(table.all().map(({ ID }) => ID)).toEqual([id]);
    await slow;
    expect(table.find(id)?.init).toBe('run');
  });

  test('ids rise, also when the clock is set back and after everything was destroyed and the log rewritten', async () => {
    let nowMs = 1_800_000_000_000;
    const path = join(folder, 'compute.log');
    const open = () => openInstanceTable(path, { nowMs: () => nowMs, log });
    const first = await open();
    const id = first.newId();
    await first.put({ description: { ID: id, LogicalID: null, Tags: null }, init: '', attachments: null });
    await first.remove(id);
    await first.close();
    nowMs -= 3_600_000;
    const second = await open();
    expect(second.newId() > id).toBe(true);
    await second.close();
  });

  test('Law 7: the same key asked twice at once makes one instance', async () => {
    const { instance, table } = await openInstance(join(folder, 'compute.log'));
    const [one, two] = await Promise.all([provision(instance, {}, 'k'), provision(instance, {}, 'k')]);
    expect(one.id).toBe(two.id);
    expect(table.count()).toBe(1);
    await table.close();
  });

  test('every failure of an error rate of one is an error, nothing is made', async () => {
    const { instance, table } = await openInstance(null, { ErrorRate: 1 });
    await expect(provision(instance)).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
    expect(table.count()).toBe(0);
  });

  test('a log that has grown far beyond what lives is rewritten and says the same', async () => {
    const path = join(folder, 'compute.log');
    const table = await openInstanceTable(path, deps);
    const ids = Array.from({ length: 800 }, () => table.newId());
    const put = (id: string) =>
      table.put({ description: { ID: id, LogicalID: null, Tags: null }, init: '', attachments: null });
    await Promise.all(ids.map(put));
    await Promise.all(ids.slice(1).map((id) => table.remove(id)));
    await put(ids[0] ?? '');
    await table.close();
    expect(await readdir(folder)).toEqual(['compute.log']);
    const again = await openInstanceTable(path, deps);
    expect(again.all().map(({ ID }) => ID)).toEqual([ids[0]]);
    await again.close();
  });

  test('an idle describe of 10,000 answers unchanged to its digest, and the very same list without', async () => {
    const { table } = await openInstance(null);
    for (let n = 0; n < 10_000; n += 1) {
      const description = { ID: table.newId(), LogicalID: null, Tags: { 'infrakit.group': 'g' } };
      await table.put({ description, init: '', attachments: null });
    }
    const facts = { endpoint: 's', incarnation: 'i', pretence: pretence(SimulatorOptions.parse({}), deps) };
    const instance = simulatedInstance(table, facts);
    const params = { tags: { 'infrakit.group': 'g' }, properties: false };
    const first = await instance.describe(params, ctx);
    expect(await instance.describe(params, ctx)).toBe(first);
    expect(await instance.describe({ ...params, digest: first.digest }, ctx)).toEqual({
      kind: 'unchanged',
      digest: first.digest,
    });
  });
});
