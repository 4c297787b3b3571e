import type { Topics } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import type { Registry } from './registry.ts';

export interface OrphanOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly registry: Registry;
  /** How long a process may be away before its plugins are cleared; it may be about to come back. */
  readonly graceMs: number;
  /** Uniform in [0, 1): keeps all processes from clearing the same topics at the same moment. */
  readonly random: () => number;
  readonly after: After;
  readonly log: Log;
}

/** Clears the advertisements of plugins whose process stays away (DESIGN §3). The result stops it. */
export const clearOrphans = (options: OrphanOptions): (() => void) => {
  const { connection, topics, registry, graceMs, random, after, log } = options;
  const waits = new Map<string, () => void>();

  const orphans = (): Set<string> =>
    new Set(
      registry
        .list()
        .filter(({ process }) => process === undefined)
        .map(({ plugin, incarnation }) => topics.plugin(plugin, incarnation)),
    );

  const clear = (topic: string): void => {
    waits.delete(topic);
    connection.publish(topic, '', { qos: 1, retain: true }).then(
      () => log.info({ topic }, 'orphaned plugin cleared'),
      // Tried again after the grace if it is still there.
      (error: unknown) => {
        log.debug({ err: error, topic }, 'orphaned plugin not cleared');
        look();
      },
    );
  };

  const look = (): void => {
    if (!registry.isReady()) return;
    const found = orphans();
    for (const [topic, stop] of waits) {
      if (found.has(topic)) continue;
      stop();
      waits.delete(topic);
    }
    for (const topic of found) {
      if (!waits.has(topic))
        waits.set(
          topic,
          after(graceMs * (1 + random()), () => clear(topic)),
        );
    }
  };

  const changes = registry.changes.subscribe(look);
  look();
  return () => {
    changes.unsubscribe();
    for (const stop of waits.values()) stop();
    waits.clear();
  };
};
