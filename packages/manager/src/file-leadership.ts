import { join } from 'node:path';
import { encodeLevel, type Json, toAppError } from '@infrakit/core';
import type { After, LeaderState, Leadership, Log } from '@infrakit/spi';
import { BehaviorSubject } from 'rxjs';
import { z } from 'zod';
import { readDurable, writeDurable } from './durable-file.ts';
import { type HeldLock, tryLock } from './file-lock.ts';

/** Who led last: in which term, and where. */
const Leader = z.strictObject({ term: z.number().int().min(0), location: z.string() });

/** How often a candidate that waits tries the lock, in ms. */
const tryEveryMs = 250;

/**
 * Leadership of the processes that share a home (DESIGN §4 Law 12): who holds the lock of the operating system leads, for as
 * long as it lives, so a lease lasts for ever and a successor need not wait one out. The term is a counter, durable
 * before anybody leads in it.
 */
export const fileLeadership = (
  folder: string,
  name: string,
  deps: { readonly after: After; readonly log: Log },
): Leadership => {
  const lockPath = join(folder, `${encodeLevel(name)}.lock`);
  const leaderPath = join(folder, `${encodeLevel(name)}.json`);
  const state = new BehaviorSubject<LeaderState>({ kind: 'following' });
  let location: string | null = null;
  let lock: HeldLock | null = null;
  let stopWaiting = (): void => undefined;
  let turn: Promise<void> = Promise.resolve();

  const tell = (next: LeaderState): void => {
    if (JSON.stringify(next) !== JSON.stringify(state.value)) state.next(next);
  };

  const readLeader = async () => Leader.parse((await readDurable(leaderPath)) ?? { term: 0, location: '' });

  const lead = async (held: HeldLock, where: string): Promise<void> => {
    const { term } = await readLeader();
    const next = { term: term + 1, location: where } satisfies Json;
    await writeDurable(leaderPath, next);
    lock = held;
    tell({ kind: 'leading', term: next.term, leaseMs: Number.MAX_SAFE_INTEGER });
  };

  const follow = async (): Promise<void> => {
    const leader = await readLeader();
    tell(leader.location === '' ? { kind: 'following' } : { kind: 'following', location: leader.location });
  };

  const attempt = async (): Promise<void> => {
    if (location === null || lock !== null) return;
    try {
      const held = await tryLock(lockPath);
      if (held === null) await follow();
      else
        await lead(held, location).catch(async (error: unknown) => {
          await held.release();
          throw error;
        });
    } catch (error) {
      deps.log.warn({ name, error: toAppError(error).message }, 'the lock could not be tried');
      tell({ kind: 'unknown', reason: toAppError(error).message });
    }
    if (location !== null && lock === null) stopWaiting = deps.after(tryEveryMs, () => void inTurn(attempt));
  };

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    turn = turn.then(work, work);
    return turn;
  };

  return {
    state: async () => state.value,
    campaign: async ({ location: where }) => {
      const isNew = location === null;
      location = where;
      if (isNew) await inTurn(attempt);
      return {};
    },
    resign: async () => {
      location = null;
      stopWaiting();
      await inTurn(async () => {
        const held = lock;
        lock = null;
        tell({ kind: 'following' });
        await held?.release();
      });
      return {};
    },
    watch: () => state.asObservable(),
  };
};
