import type { After } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { processOf } from '../discovery/plugin-record.ts';
import type { Registry } from '../discovery/registry.ts';
import type { RpcClient } from './rpc-client.ts';

export interface LostCallOptions {
  readonly connection: Connection;
  readonly registry: Registry;
  readonly client: RpcClient;
  readonly after: After;
  /** This machine. */
  readonly host: string;
  /** Whether a process of this machine lives; left out, only the bus tells. */
  readonly isLiving?: ((pid: number) => boolean) | undefined;
}

/** A process whose topic the late will of an older connection has cleared says at once that it is still there. */
const goneMs = 1_000;
/** After a reconnect processes come back to a broker that lost its memory, each in its own time (DESIGN §3). */
const comeBackMs = 5_000;
/** While the broker is away nobody says who has died: it is asked for. */
const askMs = 250;

/**
 * Ends calls that a process has taken along when it died, since nobody else will answer them: one that is gone from the bus and
 * does not come back, or one of this machine that does not live, such as a host that took the broker along as well. Of others
 * nothing is known while the broker is away, and nothing is ended. The result stops it.
 */
export const endLostCalls = (options: LostCallOptions): (() => void) => {
  const { connection, registry, client, after, host, isLiving = () => true } = options;
  const leaving = new Map<string, () => void>();
  let isConnected = false;
  let wasConnected = false;
  /** Set for as long as others may still be coming back. */
  let stopComeBack: (() => void) | undefined;
  let stopAsking: (() => void) | undefined;

  const end = (nonce: string): void => {
    leaving.get(nonce)?.();
    leaving.delete(nonce);
    client.lose((incarnation) => processOf(incarnation) === nonce);
  };

  const look = (): void => {
    const called = new Set([...client.called()].map(processOf));
    const present = registry.processes();
    for (const [nonce, stop] of leaving) {
      if (called.has(nonce) && !present.has(nonce) && isConnected) continue;
      stop();
      leaving.delete(nonce);
    }
    for (const nonce of called) {
      const process = present.get(nonce);
      if (process !== undefined && process.host === host && !isLiving(process.pid)) end(nonce);
      if (process !== undefined || !isConnected || !registry.isReady() || leaving.has(nonce)) continue;
      leaving.set(
        nonce,
        after(stopComeBack === undefined ? goneMs : comeBackMs, () => end(nonce)),
      );
    }
  };

  const ask = (): void => {
    look();
    stopAsking = after(askMs, ask);
  };

  const changes = registry.changes.subscribe(look);
  const status = connection.status.subscribe(({ kind }) => {
    isConnected = kind === 'connected';
    stopAsking?.();
    stopComeBack?.();
    stopComeBack = undefined;
    if (isConnected && wasConnected) {
      stopComeBack = after(comeBackMs, () => {
        stopComeBack = undefined;
      });
    }
    wasConnected ||= isConnected;
    if (kind === 'disconnected') ask();
    else look();
  });
  return () => {
    changes.unsubscribe();
    status.unsubscribe();
    stopAsking?.();
    stopComeBack?.();
    for (const stop of leaving.values()) stop();
  };
};
