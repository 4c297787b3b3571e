import { dirname, join } from 'node:path';
import type { Clock } from '@infrakit/runtime';
import type { EndpointDeps } from '../link/endpoint.ts';
import { type TopicInstances, topicInstances } from '../topic-instances.ts';
import { mirrorEngine } from './mirror-engine.ts';
import { openMirrorTable } from './mirror-table.ts';

/** How often and how far a repeater looks. */
export interface MirrorLimits {
  /** Between two probes of each broker, in ms: a broker that is silent for two of them is left and called again. */
  readonly probeMs: number;
  /** The largest message that is taken, in bytes: larger ones are dropped, and counted. */
  readonly maxBytes: number;
  /** Through how many repeaters a message may come before it is dropped, where MQTT 5 tells; 8 if left out. */
  readonly maxHops?: number;
}

const defaultMaxHops = 8;

/** What mirrors run with. */
export interface MirrorsDeps extends Omit<EndpointDeps, 'keepsBuffers'> {
  /** The same after each start, and no other repeater's: sessions at the brokers go by it. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: () => string;
  /** Mirrors were added, changed or removed. */
  readonly changed: () => void;
  /** Some mirror fares differently. */
  readonly fares: () => void;
}

/** Mirrored topics that are kept, and run. */
export interface Mirrors extends TopicInstances {
  /** Ends all connections. The mirrors are kept, and so is what the sources keep for them. */
  readonly close: () => Promise<void>;
}

/** Opens the mirrors kept in the file `path`, or none that last when it is null, and starts them. */
export const openMirrors = async (path: string | null, limits: MirrorLimits, deps: MirrorsDeps): Promise<Mirrors> => {
  const { identity, clock, random, log, newId } = deps;
  const table = await openMirrorTable(path, log);
  let instances: TopicInstances | null = null;
  const within = (folder: string): string | null => (path === null ? null : join(dirname(path), folder));
  const engine = mirrorEngine({
    bufferFolder: within('buffers'),
    retainFolder: within('retained'),
    identity,
    clock,
    random,
    log,
    maxHops: defaultMaxHops,
    ...limits,
    changed: () => {
      instances?.touched();
      deps.fares();
    },
  });
  const opened = topicInstances({
    ...deps,
    keepsBuffers: path !== null,
    table,
    engine,
    incarnation: newId(),
    nowMs: clock.now,
  });
  instances = opened;
  return {
    ...opened,
    close: async () => {
      await engine.close();
      await table.close();
    },
  };
};
