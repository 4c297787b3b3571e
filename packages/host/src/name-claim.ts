import { AppError } from '@infrakit/core';
import { fileLeadership } from '@infrakit/manager';
import { type CallContext, type LeaderState, type Leadership, type Log, memoryElection } from '@infrakit/spi';
import type { Home } from './home.ts';
import { isLivingProcess } from './living-process.ts';
import { untilFound, type WaitDeps } from './waiting.ts';

/** Which process this is, for others to read. */
export interface ProcessPlace {
  readonly host: string;
  readonly pid: number;
}

/** Until a process that was killed has surely given back its locks and its place on the bus, in ms. */
export const deathMs = 5_000;
const lookEveryMs = 25;

const locationOf = ({ host, pid }: ProcessPlace): string => `${host} ${pid}`;

const placeOf = (location: string | undefined): ProcessPlace | undefined => {
  const match = /^(\S+) (\d+)$/.exec(location ?? '');
  return match?.[1] === undefined ? undefined : { host: match[1], pid: Number(match[2]) };
};

/** Whether a place is a process of this machine that has ended. */
export const isDead = (place: ProcessPlace | undefined, own: ProcessPlace): boolean =>
  place !== undefined && place.host === own.host && place.pid !== own.pid && !isLivingProcess(place.pid);

const contextOf = (signal: AbortSignal): CallContext => ({ signal, timeoutMs: deathMs });

/** Who may use a name in a home: one process at a time, by a lock that a killed one gives back (GP-D2). */
export const nameLeadership = (
  home: Home | null,
  name: string,
  deps: { readonly after: WaitDeps['after']; readonly log: Log },
): Leadership => (home === null ? memoryElection().join() : fileLeadership(home.locks, name, deps));

/** Enters for a name and answers at once, whoever has it. */
export const enter = async (leadership: Leadership, own: ProcessPlace, signal: AbortSignal): Promise<LeaderState> => {
  await leadership.campaign({ location: locationOf(own) }, contextOf(signal));
  return leadership.state({}, contextOf(signal));
};

/** Gives a name back. */
export const leave = async (leadership: Leadership): Promise<void> => {
  await leadership.resign({}, contextOf(new AbortController().signal));
};

/**
 * Takes a name in this home; the term in which this process has it. Who has it now is waited for only while dying.
 * Errors: `PLUGIN_CLAIMED` naming the host and pid of who has it.
 */
export const takeName = async (
  leadership: Leadership,
  name: string,
  own: ProcessPlace,
  deps: WaitDeps,
): Promise<number> => {
  let seen = await enter(leadership, own, deps.signal);
  const attempt = async (): Promise<number | 'taken' | undefined> => {
    seen = await leadership.state({}, contextOf(deps.signal));
    if (seen.kind === 'leading') return seen.term;
    const holder = seen.kind === 'following' ? placeOf(seen.location) : undefined;
    return holder !== undefined && !isDead(holder, own) ? 'taken' : undefined;
  };
  const found = await untilFound(attempt, { everyMs: lookEveryMs, timeoutMs: deathMs }, deps);
  if (typeof found === 'number') return found;
  await leave(leadership);
  if (seen.kind === 'unknown') {
    throw new AppError('HOME_INVALID', `the name ${name} cannot be locked in this home: ${seen.reason}`);
  }
  const holder = seen.kind === 'following' ? placeOf(seen.location) : undefined;
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`;
  throw new AppError('PLUGIN_CLAIMED', `${name} is run by ${who} already`, { facts: { plugin: name, ...holder } });
};
