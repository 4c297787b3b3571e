import type { InterfaceDescription, MethodDescription, SpiOf } from '@infrakit/spi';
import { type Call, directCall } from './direct-call.ts';
import type { RpcClient, RpcTarget } from './rpc-client.ts';

/** Where a call goes: over the bus, or to an implementation in this process. */
export type RpcDestination<I extends InterfaceDescription> =
  | { readonly kind: 'remote'; readonly target: RpcTarget; readonly via?: string }
  | { readonly kind: 'local'; readonly implementation: SpiOf<I> };

/**
 * An SPI whose calls go where `find` says at that moment; the calls reject with what `find` throws. In this process the
 * call is direct, with the same deadline, codes and frozen results.
 */
export const rpcProxy = <I extends InterfaceDescription>(
  client: RpcClient,
  description: I,
  find: (method: MethodDescription) => RpcDestination<I>,
): SpiOf<I> => {
  const call =
    (name: string, method: MethodDescription): Call =>
    async (params, ctx) => {
      const found = find(method);
      if (found.kind === 'remote') return client.call(found.target, description, name, params, ctx, found.via);
      return directCall(description, name, found.implementation, client.clock)(params, ctx);
    };
  const calls = Object.entries(description.methods).map(([name, method]) => [name, call(name, method)]);
  return Object.freeze(Object.fromEntries(calls)) as SpiOf<I>;
};
