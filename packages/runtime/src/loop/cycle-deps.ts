import type { Fencing, Log } from '@infrakit/spi';
import type { Clock } from '../work/clock.ts';
import type { Random } from '../work/random.ts';
import type { WorkerPool } from '../work/worker-pool.ts';

/** What a cycle runs with. */
export interface CycleDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly pool: WorkerPool;
  readonly log: Log;
  readonly newId: () => string;
  /** How long a cycle waits for acts that hang before it ends without them, in ms. */
  readonly patienceMs: number;
  /** Asks for a further cycle: an act that outlived its cycle has ended. */
  readonly wake: () => void;
  /** The leader's token, where there is one (Law 12). */
  readonly fencing?: () => Fencing | undefined;
}
