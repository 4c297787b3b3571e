import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { connectMqtt, openBusClient } from '@infrakit/bus';
import type { BrokerAddress, InstanceDescription, Membership, Spec, SpecObject } from '@infrakit/core';
import { addressOfRecord, readBrokerRecord } from '@infrakit/host';
import {
  type CallContext,
  controllerInterface,
  groupInterface,
  instanceInterface,
  type PlanText,
  type Plugins,
  realAfter,
} from '@infrakit/spi';

/** Who commands a stack from outside, over its bus alone. */
export interface Operator extends AsyncDisposable {
  readonly plugins: Plugins;
  /** Commits to `mystack/groups`, or to `mystack/nfs`. */
  readonly commit: (spec: Spec) => Promise<SpecObject>;
  readonly plan: (spec: Spec) => Promise<PlanText>;
  readonly scale: (group: string, size: number) => Promise<void>;
  readonly size: (group: string) => Promise<number>;
  readonly free: (object: string) => Promise<void>;
  readonly destroy: (object: string) => Promise<void>;
  readonly destroyInstances: (group: string, ids: readonly string[]) => Promise<void>;
  readonly approve: (object: string, plan?: string) => Promise<PlanText>;
  readonly hold: (object: string) => Promise<void>;
  readonly resume: (object: string) => Promise<void>;
  readonly describe: (object: string) => Promise<readonly SpecObject[]>;
  readonly membership: (group: string) => Promise<Membership | undefined>;
  /** Ids of the members, sorted. */
  readonly members: (group: string) => Promise<string[]>;
  /** Everything in an instance plugin, or what carries these tags. */
  readonly instances: (
    object: string,
    tags?: Readonly<Record<string, string>>,
  ) => Promise<readonly InstanceDescription[]>;
  /** Source ids of what is in the sink, sorted, each as often as it is there. */
  readonly enrolled: () => Promise<string[]>;
}

/** Where `nfs-auth/disk` says which member an entry is for. */
const sourceTag = 'infrakit.enrollment.sourceID';
const callMs = 10_000;
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** The broker of a home, as its `broker.json` says. */
export const brokerOf = async (home: string): Promise<BrokerAddress> => {
  const record = await readBrokerRecord(home);
  if (record === undefined) throw new Error(`${home} has no broker`);
  return addressOfRecord(record);
};

/** Resolves with what `probe` gives as soon as that is something; what it throws counts as nothing until the deadline. */
export const eventually = async <T>(
  what: string,
  timeoutMs: number,
  probe: () => Promise<T | undefined>,
): Promise<T> => {
  const endMs = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause: last });
    await delay(10);
  }
};

/** Comes to the bus of a stack from outside. */
export const connectOperator = async (address: BrokerAddress): Promise<Operator> => {
  const nonce = randomBytes(6).toString('hex');
  let ids = 0;
  const deps = { after: realAfter, random: Math.random, log };
  // Only embedded brokers have a socket here, and they speak nothing newer.
  const version = address.kind === 'unix' ? ({ version: '3.1.1' } as const) : {};
  const bus = openBusClient({
    connection: await connectMqtt({ address, clientId: `operator-${nonce}`, ...version }, deps),
    host: hostname(),
    clock: { nowMs: Date.now, after: realAfter },
    newId: () => {
      ids += 1;
      return `${nonce}-${ids}`;
    },
    log,
  });
  await bus.registry.ready(callMs);
  const { plugins } = bus;
  const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: callMs });
  const groups = plugins.resolve(groupInterface, 'mystack/groups');
  const controller = (object: string) => plugins.resolve(controllerInterface, object);
  const groupAt = (name: string) => plugins.resolve(groupInterface, `mystack/${name}`);
  const placeOf = ({ kind }: Spec): string => (kind === 'group' ? 'mystack/groups' : 'mystack/nfs');
  const nameOf = (object: string): string => object.split('/').at(-1) ?? object;
  const answer = (group: string) => plugins.resolve(groupInterface, `group/${group}`).members({ name: group }, ctx());

  const instances: Operator['instances'] = async (object, tags = {}) => {
    const listing = await plugins.resolve(instanceInterface, object).describe({ tags, properties: true }, ctx());
    if (listing.kind === 'unchanged') throw new Error(`${object} compares with a digest that was not sent`);
    return listing.instances;
  };
  return {
    plugins,
    commit: async (spec) => (await controller(placeOf(spec)).commit({ spec, revision: 1 }, ctx())).object,
    plan: async (spec) => (await controller(placeOf(spec)).plan({ operation: 'commit', spec }, ctx())).plan,
    scale: async (name, size) => void (await groups.setSize({ name, size }, ctx())),
    size: async (name) => (await groupAt(name).size({ name }, ctx())).size,
    free: async (object) => void (await controller(object).free({ name: nameOf(object) }, ctx())),
    destroy: async (object) => void (await controller(object).destroy({ name: nameOf(object) }, ctx())),
    destroyInstances: async (name, ids) =>
      void (await groupAt(name).destroyInstances({ name, instances: [...ids] }, ctx())),
    approve: async (object, plan) =>
      (await controller(object).approve({ name: nameOf(object), ...(plan === undefined ? {} : { plan }) }, ctx())).plan,
    hold: async (object) => void (await controller(object).hold({ name: nameOf(object), reason: 'a test' }, ctx())),
    resume: async (object) => void (await controller(object).resume({ name: nameOf(object) }, ctx())),
    describe: async (object) => (await controller(object).describe({ search: {} }, ctx())).objects,
    membership: async (group) => {
      const found = await answer(group);
      return found.kind === 'members' ? found.membership : undefined;
    },
    members: async (group) => {
      const found = await answer(group);
      if (found.kind !== 'members' || found.membership.kind !== 'known') {
        throw new Error(`the membership of ${group} is not known: ${JSON.stringify(found)}`);
      }
      return found.members.map(({ ID }) => ID).sort();
    },
    instances,
    enrolled: async () => (await instances('nfs-auth/disk')).map(({ Tags }) => Tags?.[sourceTag] ?? '').sort(),
    [Symbol.asyncDispose]: bus.close,
  };
};
