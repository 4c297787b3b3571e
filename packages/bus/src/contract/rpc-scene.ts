import { AppError, type RpcRequest, type Topics, topicsUnder } from '@infrakit/core';
import {
  type CallContext,
  type ContractContext,
  type InterfaceDescription,
  mutating,
  pluginObject,
  reading,
  type SpiOf,
} from '@infrakit/spi';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';
import type { Call } from '../rpc/direct-call.ts';
import { type RpcClient, type RpcTarget, rpcClient } from '../rpc/rpc-client.ts';
import { rpcProxy } from '../rpc/rpc-proxy.ts';
import { type RpcServer, type RpcServerOptions, serveRpc } from '../rpc/rpc-server.ts';

/** A broker that calls go over. */
export interface RpcSubject {
  /** One more client of it, connected. */
  readonly connect: (clientId: string) => Promise<Connection>;
  /** Cuts all connections that are there; they come back by themselves. */
  readonly cut?: () => Promise<void>;
  /** From now on nothing is answered and nothing ends, until the result is called. */
  readonly freeze?: () => Promise<() => void>;
}

const Value = z.strictObject({ value: z.unknown() });
const Count = z.strictObject({ count: z.number() });

/** An interface with what a transport must carry. */
export const probeInterface = {
  name: 'Probe',
  version: '1.2.0',
  methods: {
    echo: reading(Value, Value),
    text: reading(z.strictObject({ length: z.number().int() }), z.strictObject({ text: z.string() })),
    /** Adds one and answers how often it was called; waits first until the test lets it go. */
    act: mutating(z.strictObject({ name: z.string() }), Count),
    fail: reading(z.strictObject({}), z.strictObject({})),
    /** Never answers. */
    hang: reading(z.strictObject({}), z.strictObject({})),
    /** Says so many times that it lives, and then answers. */
    work: reading(z.strictObject({ notes: z.number(), everyMs: z.number() }), Count, { maxTimeoutMs: 1_000 }),
    context: reading(z.strictObject({}), Value),
  },
} as const satisfies InterfaceDescription;
export type Probe = SpiOf<typeof probeInterface>;

/** What the test sees of the callee, and does to it. */
export interface ProbeWorld {
  readonly acts: string[];
  /** The signals of the calls that hang. */
  readonly hanging: AbortSignal[];
  /** What `act` waits for once it has acted. */
  readonly hold: { until: Promise<unknown> };
}

const probe = (world: ProbeWorld, ctx: ContractContext): Probe => ({
  echo: async ({ value }) => ({ value }),
  text: async ({ length }) => ({ text: 'ä'.repeat(length) }),
  act: async ({ name }) => {
    world.acts.push(name);
    const count = world.acts.length;
    await world.hold.until;
    return { count };
  },
  fail: async () => {
    const cause = new AppError('STORE_CONFLICT', 'somebody was faster', {
      facts: { key: 'k' },
      cause: new Error('deep'),
    });
    throw new AppError('GROUP_INVALID', 'the group is wrong', { facts: { field: 'Size', want: [1, 2] }, cause });
  },
  hang: (_, { signal }) => {
    world.hanging.push(signal);
    return new Promise(() => {});
  },
  work: async ({ notes, everyMs }, { progress }) => {
    for (let n = 1; n <= notes; n += 1) {
      await new Promise<void>((resolve) => {
        ctx.after(everyMs, resolve);
      });
      progress?.({ message: `${n} of ${notes}`, fraction: n / notes });
    }
    return { count: notes };
  },
  context: async (_, { idempotencyKey, fencing, trace }) => ({ value: { idempotencyKey, fencing, trace } }),
});

/** Lines of a log, to look at. */
export interface LoggedLine {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** One case's server and client, each on a connection of its own. */
export interface RpcScene {
  readonly topics: Topics;
  readonly world: ProbeWorld;
  readonly client: RpcClient;
  readonly clientConnection: Connection;
  readonly server: RpcServer;
  readonly serverConnection: Connection;
  readonly target: RpcTarget;
  readonly probe: Probe;
  /** A handle on another target, or one that names its proxy. */
  readonly handle: (target: Partial<RpcTarget>, via?: string) => Probe;
  /** A method of the target as another description has it. */
  readonly caller: (description: InterfaceDescription, method: string) => Call;
  /** A request made by hand, good unless `changes` say otherwise. */
  readonly request: (method: keyof Probe, params: object, changes?: Partial<RpcRequest>) => RpcRequest;
  /** Publishes something on the topic of the target's method. */
  readonly publish: (method: string, payload: object | string | Uint8Array) => Promise<void>;
  /** Another server, like the first but for what is given. */
  readonly serve: (changes: Partial<RpcServerOptions>) => Promise<RpcServer>;
  readonly warnings: LoggedLine[];
}

const newIds = (start: string) => {
  let n = 0;
  return (): string => {
    n += 1;
    return `${start}-${n}`;
  };
};

/** Object names that a topic cannot carry as they are. */
export const oddObjects = ['', '-', '.', 'a/b', '+', '#', '$SYS', 'two words', '100 %', 'Ünï 🐄'];

/** Runs `act` between a server of the probe and a client, under a prefix of their own, and releases both. */
export const withRpc = async (
  subject: RpcSubject,
  ctx: ContractContext,
  act: (scene: RpcScene) => Promise<void>,
  changes: Partial<RpcServerOptions> = {},
): Promise<void> => {
  const id = Math.random().toString(36).slice(2);
  const topics = topicsUnder(`contract/${id}`);
  const clock = { nowMs: Date.now, after: ctx.after };
  const warnings: LoggedLine[] = [];
  const quiet = (): void => {};
  const log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (facts: object, message: string) => void warnings.push({ facts: { ...facts }, message }),
  };
  const world: ProbeWorld = { acts: [], hanging: [], hold: { until: Promise.resolve() } };
  const implementation = probe(world, ctx);
  const objects = oddObjects.map((object) => pluginObject({ object, description: probeInterface, implementation }));
  const clientConnection = await subject.connect(`client-${id}`);
  const serverConnection = await subject.connect(`server-${id}`);
  const servers: RpcServer[] = [];
  const serve: RpcScene['serve'] = async (more) => {
    const server = serveRpc({
      connection: serverConnection,
      topics,
      plugin: 'probe',
      incarnation: 'n1.1',
      host: 'here',
      objects: () => objects,
      isAnswering: () => true,
      clock,
      log,
      ...changes,
      ...more,
    });
    servers.push(server);
    await server.ready();
    return server;
  };
  const server = await serve({});
  const client = rpcClient({ connection: clientConnection, topics, host: 'here', newId: newIds(id), clock, log });
  const target: RpcTarget = { plugin: 'probe', object: '', incarnation: 'n1.1' };
  const handle: RpcScene['handle'] = (other, via) =>
    rpcProxy(client, probeInterface, () => ({
      kind: 'remote',
      target: { ...target, ...other },
      ...(via === undefined ? {} : { via }),
    }));
  const nextRaw = newIds(`${id}-raw`);
  try {
    await act({
      topics,
      world,
      client,
      clientConnection,
      server,
      serverConnection,
      target,
      probe: handle({}),
      handle,
      caller: (description, method) => (params, context) => client.call(target, description, method, params, context),
      request: (method, params, other = {}) => ({
        jsonrpc: '2.0',
        id: nextRaw(),
        method: `Probe.${method.charAt(0).toUpperCase()}${method.slice(1)}`,
        params: { ...params },
        replyTo: topics.reply(clientConnection.clientId),
        to: target.incarnation,
        host: 'here',
        sentAtMs: Date.now(),
        timeoutMs: 5_000,
        version: '1.0.0',
        context: {},
        ...other,
      }),
      publish: (method, payload) => {
        const bytes = typeof payload === 'string' || payload instanceof Uint8Array ? payload : JSON.stringify(payload);
        return clientConnection.publish(topics.rpc('probe', '', method), bytes, { qos: 1 });
      },
      serve,
      warnings,
    });
  } finally {
    client.close();
    for (const each of servers) each.close();
    await Promise.all([clientConnection.close(), serverConnection.close()]);
  }
};

/** Waits for something to become true, within the deadline of the call. */
export const until = async (ctx: ContractContext, isSo: () => boolean, what: string): Promise<void> => {
  const deadlineMs = Date.now() + ctx.timeoutMs;
  while (!isSo()) {
    if (Date.now() > deadlineMs || ctx.signal.aborted) throw new AppError('RPC_TIMEOUT', `${what} did not come`);
    await new Promise<void>((resolve) => {
      ctx.after(5, resolve);
    });
  }
};

/** A context with another deadline. */
export const within = (ctx: ContractContext, timeoutMs: number): CallContext => ({ ...ctx, timeoutMs });
