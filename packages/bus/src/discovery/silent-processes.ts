import type { ProcessPresence, Topics } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import type { Registry } from './registry.ts';

export interface SilentProcessOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly registry: Registry;
  /** This process, and the machine it runs on. */
  readonly nonce: string;
  readonly host: string;
  /** Whether a process of this machine lives; left out, only silence tells. */
  readonly isLiving?: (pid: number) => boolean;
  readonly log: Log;
}

/** Watches over the processes that a broker says are there. */
export interface SilentProcesses {
  /** Each process has had the time to say that it is there, once more. */
  readonly beat: () => void;
  readonly close: () => void;
}

/** So many beats of ours without one of its own: it is gone, and its will was lost with a broker. */
const silentBeats = 4;
/** Judged ones that are remembered. */
const maxJudged = 1_000;

/**
 * Clears the topics of processes that are gone without their will: those that died while a broker that remembers was away
 * itself. A process of this machine that does not live is cleared at once, another after four silent beats. A living one
 * that was judged wrongly says so again at once, and is not judged by its pid a second time.
 */
export const clearSilentProcesses = (options: SilentProcessOptions): SilentProcesses => {
  const { connection, topics, registry, nonce: own, host, isLiving = () => true, log } = options;
  /** The registry gives another presence with each message, so the same one is silence. */
  const silent = new Map<string, { readonly presence: ProcessPresence; readonly beats: number }>();
  const judged = new Set<string>();

  const clear = (nonce: string, { pid, host: where }: ProcessPresence, why: string): void => {
    silent.delete(nonce);
    connection.publish(topics.process(nonce), '', { qos: 1, retain: true }).then(
      () => log.info({ process: nonce, pid, host: where, why }, 'process cleared from the bus'),
      (error: unknown) => {
        judged.delete(nonce);
        log.debug({ err: error, process: nonce }, 'process not cleared');
      },
    );
  };

  const look = (): void => {
    if (!registry.isReady()) return;
    const present = registry.processes();
    if (judged.size > maxJudged) judged.clear();
    for (const [nonce, presence] of present) {
      if (nonce === own || presence.host !== host || judged.has(nonce) || isLiving(presence.pid)) continue;
      judged.add(nonce);
      clear(nonce, presence, 'no such pid');
    }
  };

  const beat = (): void => {
    const present = registry.processes();
    for (const nonce of silent.keys()) if (!present.has(nonce)) silent.delete(nonce);
    for (const [nonce, presence] of present) {
      const before = silent.get(nonce);
      const beats = before?.presence === presence ? before.beats + 1 : 0;
      silent.set(nonce, { presence, beats });
      if (beats >= silentBeats && nonce !== own) clear(nonce, presence, 'silence');
    }
    look();
  };

  const changes = registry.changes.subscribe(look);
  // What was said while the bus was away was not heard.
  const status = connection.status.subscribe(() => silent.clear());
  look();
  return {
    beat,
    close: () => {
      changes.unsubscribe();
      status.unsubscribe();
    },
  };
};
