import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type ConnectionStatus, connectMqtt, openBusClient, type Registry } from '@infrakit/bus';
import { AppError, toAppError } from '@infrakit/core';
import { isLivingProcess } from '@infrakit/host';
import type { After, CallContext, Events, InterfaceDescription, Plugins, SpiOf } from '@infrakit/spi';
import { filter, firstValueFrom, type Observable } from 'rxjs';
import { findBroker } from './broker.ts';
import type { CommandContext } from './command-context.ts';

/** A connection to the broker of a stack, as a command line uses it. */
export interface Session {
  readonly plugins: Plugins;
  readonly registry: Registry;
  readonly subscribe: Events['subscribe'];
  /** Whether the broker is there. */
  readonly status: Observable<ConnectionStatus>;
  /** A context for calls that ends with the command: after `timeoutMs`, or by Ctrl-C. */
  readonly ctx: (timeoutMs?: number) => CallContext;
  /** What all topics of the stack begin with. */
  readonly prefix: string;
  /** Who runs the broker, if that is one of our own processes. */
  readonly brokerPid: number | undefined;
  /** Resolves when a name is answered to, or everything on the bus was seen. Errors: `BUS_UNAVAILABLE`. */
  readonly seen: (name?: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Until the broker must have answered, and then what is on the bus must be known: both together within 5 s. */
const connectMs = 3_000;
const discoveryMs = 2_000;
const callMs = 10_000;

const after: After = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

const rethrow = (code: 'BUS_UNAVAILABLE' | 'PLUGIN_UNAVAILABLE', prefix: string) => (thrown: unknown) => {
  const error = toAppError(thrown);
  if (error.code !== 'RPC_TIMEOUT') throw error;
  throw new AppError(code, `${prefix}: ${error.message}`, { facts: error.facts, cause: error });
};

type Call = (params: unknown, ctx: CallContext) => Promise<unknown>;

/** A read that gets no answer means that the plugin is not there (DESIGN §6); of a change the work may go on. */
const readsAnswered = ({ resolve, watch }: Plugins): Plugins => ({
  watch,
  resolve: <I extends InterfaceDescription>(description: I, name: string): SpiOf<I> => {
    const calls = resolve(description, name) as Readonly<Record<string, Call>>;
    const answered = Object.entries(calls).map(([method, call]): [string, Call] =>
      description.methods[method]?.mutates === true
        ? [method, call]
        : [
            method,
            (params, ctx) => call(params, ctx).catch(rethrow('PLUGIN_UNAVAILABLE', `${name} is advertised but silent`)),
          ],
    );
    return Object.fromEntries(answered) as SpiOf<I>;
  },
});

/**
 * Connects to the broker of the stack. Errors, after 3 s at most: `BUS_UNAVAILABLE`, `BUS_REFUSED`, `BUS_URL_INVALID`, each
 * in a sentence that says what to do.
 */
const openSession = async ({ env, signal, log }: CommandContext): Promise<Session> => {
  const { address, tls, prefix, pid, explain } = await findBroker(env);
  const connection = await connectMqtt(
    { address, tls, clientId: `cli-${randomUUID()}`, connectTimeoutMs: connectMs, version: '3.1.1' },
    { after, log, random: Math.random },
  ).catch((error: unknown) => {
    throw explain(toAppError(error));
  });
  const clock = { nowMs: Date.now, after };
  const client = openBusClient({
    connection,
    prefix,
    host: hostname(),
    isLiving: isLivingProcess,
    clock,
    newId: randomUUID,
    log,
  });
  const { registry, subscribe, close } = client;

  const seen = async (name?: string): Promise<void> => {
    const over = new AbortController();
    const everything = registry
      .ready(discoveryMs, AbortSignal.any([signal, over.signal]))
      .catch(rethrow('BUS_UNAVAILABLE', 'the broker does not answer'));
    if (name === undefined) return everything;
    const answered = firstValueFrom(registry.watch(name).pipe(filter(({ kind }) => kind === 'online')));
    await Promise.race([everything, answered]).finally(() => over.abort());
  };

  return {
    plugins: readsAnswered(client.plugins),
    registry,
    subscribe,
    status: connection.status,
    ctx: (timeoutMs = callMs) => ({ signal, timeoutMs }),
    prefix,
    brokerPid: pid,
    seen,
    close,
  };
};

/** Runs something with a session and closes it. */
export const withSession = async <T>(context: CommandContext, run: (session: Session) => Promise<T>): Promise<T> => {
  const session = await openSession(context);
  try {
    return await run(session);
  } finally {
    await session.close();
  }
};
