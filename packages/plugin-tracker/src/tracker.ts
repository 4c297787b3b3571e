import { type Event, type InstanceDescription, type Tags, toAppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Instance, InstanceListing } from '@infrakit/spi';
import { difference } from './difference.ts';

/** What one tracker looks at. */
export interface Tracked {
  /** The plugin's name, which the topics begin with. */
  readonly name: string;
  readonly instance: Instance;
  readonly tags: Tags;
  readonly everyMs: number;
}

/** A tracker that runs. */
export interface Tracker {
  /** Ends after the look in progress. */
  readonly stop: () => Promise<void>;
}

const describeTimeoutMs = 10_000;

/**
 * Looks at a plugin's instances again and again and publishes who was found and who was lost, lost before found; everything
 * is found at the first look. A look that fails is one event with what went wrong (EI-V3), and what is known stays. Only what
 * is there is remembered (GP-E15).
 */
export const startTracker = (tracked: Tracked, clock: Clock, publish: (event: Event) => void): Tracker => {
  const { name, instance, tags, everyMs } = tracked;
  let known: ReadonlyMap<string, InstanceDescription> = new Map();
  let digest: string | undefined;
  let cancel = (): void => undefined;
  const abort = new AbortController();

  const tell = (leaf: string, id: string, facts: Partial<Event>): void =>
    publish({
      Topic: `${name}/${leaf}`,
      Type: 'tracker',
      ID: id,
      Message: '',
      Timestamp: new Date(clock.now()).toISOString(),
      ...facts,
    });

  const take = (listing: InstanceListing): void => {
    if (listing.kind === 'unchanged') return;
    digest = listing.digest;
    const now = new Map(listing.instances.map((description) => [description.ID, description]));
    const { lost, found } = difference(known, now);
    for (const description of lost) tell('lost', description.ID, { Data: description });
    for (const description of found) tell('found', description.ID, { Data: description });
    known = now;
  };

  const look = async (): Promise<void> => {
    try {
      const ctx = { signal: abort.signal, timeoutMs: describeTimeoutMs };
      const since = digest === undefined ? {} : { digest };
      take(await instance.describe({ tags: { ...tags }, properties: false, ...since }, ctx));
    } catch (thrown) {
      if (abort.signal.aborted) return;
      const { message } = toAppError(thrown);
      tell('error', 'error', { Message: message, Error: message, Data: { message } });
    }
  };

  let turn: Promise<void> = Promise.resolve();
  const run = (): void => {
    turn = look().then(() => {
      if (!abort.signal.aborted) cancel = clock.after(everyMs, run);
    });
  };
  run();
  return {
    stop: async () => {
      abort.abort();
      cancel();
      await turn;
    },
  };
};
