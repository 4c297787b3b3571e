import type { Health, InstanceDescription } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { CallContext, Flavor, Log } from '@infrakit/spi';

/** What a health check runs with. */
export interface HealthCheckDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** How often healthy members are asked about, in ms; the others are asked about at each {@link HealthCheck.poll}. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Who is asked, and about whom. */
export interface HealthQuestion {
  readonly flavor: Flavor;
  readonly properties: unknown;
  readonly all: () => readonly InstanceDescription[];
  /** Those that are not known to be healthy. */
  readonly doubtful: () => readonly InstanceDescription[];
}

/** Keeps the health of members fresh without holding up anybody (Law 5). */
export interface HealthCheck {
  /** Begins to ask, when it is time and nobody is being asked; `told` hears the answers of members that it was about. */
  readonly poll: (question: HealthQuestion, told: (health: ReadonlyMap<string, Health>) => void) => void;
}

const portion = 1_000;

/** The health of some members as the flavor sees it; an error, or no word of one, counts as unknown (GP §1.9). */
export const askHealth = async (
  { flavor, properties }: Pick<HealthQuestion, 'flavor' | 'properties'>,
  instances: readonly InstanceDescription[],
  ctx: CallContext,
): Promise<ReadonlyMap<string, Health>> => {
  const found = new Map<string, Health>(instances.map(({ ID }) => [ID, 'unknown']));
  for (let first = 0; first < instances.length; first += portion) {
    const some = instances.slice(first, first + portion);
    const answer = await flavor.healthy({ properties, instances: some }, ctx).catch(() => ({ health: [] }));
    for (const { id, health } of answer.health) if (found.has(id)) found.set(id, health);
  }
  return found;
};

/** A check that has asked nobody yet. */
export const healthCheck = ({ clock, log, intervalMs, timeoutMs }: HealthCheckDeps): HealthCheck => {
  let isAsking = false;
  let allAtMs = Number.NEGATIVE_INFINITY;
  return {
    poll: (question, told) => {
      if (isAsking) return;
      const nowMs = clock.now();
      const isWhole = nowMs - allAtMs >= intervalMs;
      const asked = isWhole ? question.all() : question.doubtful();
      if (isWhole) allAtMs = nowMs;
      if (asked.length === 0) return;
      isAsking = true;
      askHealth(question, asked, { signal: new AbortController().signal, timeoutMs })
        .then(told)
        .catch((error: unknown) => log.warn({ error }, 'the health of members could not be taken'))
        .finally(() => {
          isAsking = false;
        });
    },
  };
};
