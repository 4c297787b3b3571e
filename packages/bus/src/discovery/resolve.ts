import { AppError, toAppError } from '@infrakit/core';
import {
  type CallContext,
  type InterfaceDescription,
  type MethodDescription,
  type Plugins,
  type SpiOf,
  whenAborted,
  wireName,
} from '@infrakit/spi';
import { type Call, directCall } from '../rpc/direct-call.ts';
import type { RpcClient } from '../rpc/rpc-client.ts';
import type { FindMethod } from '../rpc/rpc-objects.ts';
import { type Route, routeCall } from './plugin-route.ts';
import type { Registry } from './registry.ts';

export interface ResolveOptions {
  readonly registry: Registry;
  readonly client: RpcClient;
  /** How to find a method of an incarnation that runs in this process. */
  readonly local: (incarnation: string) => FindMethod | undefined;
  /** The plugin whose port this is; none for a command line. */
  readonly caller?: string;
}

/** How long a call waits for discovery when this process has just come to the bus. */
const discoveryMs = 2_000;
/** How long a call waits where nobody leads: a claim or a change of leaders is over soon, or takes longer than a caller may wait. */
const leaderMs = 2_000;
/** Until it is asked again who leads although nothing has changed on the bus. */
const askAgainMs = 250;

/** The `Plugins` port: names are found anew at each call, calls within this process are direct. */
export const pluginsPort = ({ registry, client, local, caller }: ResolveOptions): Plugins => {
  const { clock } = client;

  const route = async (
    name: string,
    [description, methodName, method]: readonly [InterfaceDescription, string, MethodDescription],
    ctx: CallContext,
  ): Promise<Route> => {
    const query = { name, description, methodName, method, caller };
    // A mutation also has to know who manages the object.
    if (registry.isReady()) return routeCall(registry, query);
    try {
      if (!method.mutates) return routeCall(registry, query);
    } catch {
      // Perhaps it is there, and only not seen yet.
    }
    const error = await registry
      .ready(Math.min(discoveryMs, ctx.timeoutMs), ctx.signal)
      .then(() => undefined, toAppError);
    if (error?.code === 'RPC_CANCELLED') throw error;
    try {
      return routeCall(registry, query);
    } catch (cause) {
      if (error === undefined) throw cause;
      throw new AppError('BUS_UNAVAILABLE', `${name} was not found: the plugins on the bus are not known yet`, {
        cause,
      });
    }
  };

  const callOnce =
    (name: string, description: InterfaceDescription, methodName: string, method: MethodDescription): Call =>
    async (params, ctx) => {
      const beganMs = clock.nowMs();
      const { via, ...target } = await route(name, [description, methodName, method], ctx);
      const timeoutMs = ctx.timeoutMs - Math.max(0, clock.nowMs() - beganMs);
      const find = local(target.incarnation);
      if (find === undefined) {
        return client.call(target, description, methodName, params, { ...ctx, timeoutMs }, via);
      }
      const found = find(target.object, wireName(description, methodName), description.version);
      const { object } = found;
      return directCall(
        object.description,
        found.methodName,
        object.implementation,
        clock,
      )(params, { ...ctx, timeoutMs });
    };

  /** Resolves when something has changed on the bus, after `ms` at the latest, or when the signal aborts. */
  const changed = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        stop();
        forget();
        changes.unsubscribe();
        resolve();
      };
      const stop = clock.after(ms, done);
      const forget = whenAborted(signal, done);
      const changes = registry.changes.subscribe(done);
    });

  /** `LEADER_NOT` says that nothing was done, so a call may be made again until somebody leads. */
  const call =
    (...method: Parameters<typeof callOnce>): Call =>
    async (params, ctx) => {
      const once = callOnce(...method);
      const beganMs = clock.nowMs();
      for (;;) {
        const passedMs = Math.max(0, clock.nowMs() - beganMs);
        try {
          return await once(params, { ...ctx, timeoutMs: ctx.timeoutMs - passedMs });
        } catch (thrown) {
          const leftMs = Math.min(leaderMs, ctx.timeoutMs) - Math.max(0, clock.nowMs() - beganMs);
          if (toAppError(thrown).code !== 'LEADER_NOT' || leftMs <= 0 || ctx.signal.aborted) throw thrown;
          await changed(Math.min(askAgainMs, leftMs), ctx.signal);
          if (clock.nowMs() - beganMs >= ctx.timeoutMs) throw thrown;
        }
      }
    };

  return {
    resolve: <I extends InterfaceDescription>(description: I, name: string): SpiOf<I> => {
      const calls = Object.entries(description.methods).map(([methodName, method]): [string, Call] => [
        methodName,
        call(name, description, methodName, method),
      ]);
      return Object.freeze(Object.fromEntries(calls)) as SpiOf<I>;
    },
    watch: registry.watch,
  };
};
