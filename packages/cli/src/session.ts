import type { Bus, Registry } from '@infrakit/bus';
import type { CallContext, Events, Plugins } from '@infrakit/spi';

/** A connection to the broker of a stack, as a command line uses it. */
export interface Session {
  readonly plugins: Plugins;
  readonly registry: Registry;
  readonly subscribe: Events['subscribe'];
  /** A context for calls that ends with the command: at `--timeout`, or by Ctrl-C. */
  readonly ctx: (timeoutMs?: number) => CallContext;
  readonly close: () => Promise<void>;
}

/** How long discovery may take before it counts as failed, in ms. */
const discoveryMs = 5_000;

/** A session over a bus; resolves when every object on it is known. */
export const sessionOver = async (bus: Bus, signal: AbortSignal): Promise<Session> => {
  await bus.registry.ready(discoveryMs, signal);
  return {
    plugins: bus.plugins,
    registry: bus.registry,
    subscribe: bus.subscribe,
    ctx: (timeoutMs = 30_000) => ({ signal, timeoutMs }),
    close: bus.close,
  };
};
