import { exponentialBackoff, toAppError } from '@infrakit/core';
import { coalesce } from '@infrakit/runtime';
import type { CallContext, Controller } from '@infrakit/spi';
import { defer, distinctUntilChanged, filter, map, merge, Subject, type Subscription } from 'rxjs';
import type { ManagerDeps } from './manager-deps.ts';
import { inReplayOrder, type SpecRecord } from './spec-record.ts';
import type { Tombstones } from './tombstones.ts';

/** Gives stored specs to their controllers until each has its own, one worker a target (GP-M11, GP-M12). */
export interface Replayer {
  /** Something of this target is left to do. */
  readonly wake: (target: string) => void;
  readonly stop: () => Promise<void>;
}

const callTimeoutMs = 30_000;

interface ReplayDeps extends ManagerDeps {
  readonly targets: readonly string[];
  readonly controllerOf: (target: string) => Controller;
  readonly graves: Tombstones;
}

/** Starts one worker a target: it acts on each new incarnation of the target, when woken, and again while something failed. */
export const replayer = (deps: ReplayDeps): Replayer => {
  const { book, plugins, clock, log } = deps;
  const woken = new Subject<string>();
  const abort = new AbortController();
  const subscriptions: Subscription[] = [];
  const cancels: (() => void)[] = [];
  const ctx = (): CallContext => ({ signal: abort.signal, timeoutMs: callTimeoutMs });

  /** Brings one record to where it should be at its controller; the record says so when it is there. */
  const bring = async (record: SpecRecord): Promise<void> => {
    const { target, name, spec, revision, phase } = record;
    const controller = deps.controllerOf(target);
    // Told in one, for between a commit and a free it would act.
    await controller.commit({ spec, revision, ...(phase === 'freed' && { freed: true }) }, ctx());
    if (phase === 'freed') await controller.free({ name }, ctx());
    if (phase === 'destroying') {
      await controller.destroy({ name }, ctx());
      await deps.graves.bury(target, name, ctx());
    }
    const now = book.find(target, name);
    if (now?.phase === 'pending' && now.revision === revision) await book.put({ ...now, phase: 'committed' }, ctx());
  };

  /** All records of a target, in order; how many of them are not there yet. */
  const bringAll = async (target: string): Promise<number> => {
    let left = 0;
    const due = book.all().filter((known) => known.target === target && known.phase !== 'destroyed');
    for (const record of inReplayOrder(due)) {
      try {
        await bring(record);
      } catch (thrown) {
        if (abort.signal.aborted) return 0;
        left += 1;
        log.warn({ target, rule: record.name, error: toAppError(thrown).message }, 'a stored spec was not taken yet');
      }
    }
    return left;
  };

  for (const target of deps.targets) {
    let failures = 0;
    let cancel = (): void => undefined;
    const again = new Subject<void>();
    const incarnations = plugins.watch(target).pipe(
      map((presence) => (presence.kind === 'online' ? presence.incarnation : null)),
      distinctUntilChanged(),
      filter((incarnation) => incarnation !== null),
    );
    subscriptions.push(
      merge(incarnations, woken.pipe(filter((name) => name === target)), again)
        .pipe(coalesce(() => defer(() => bringAll(target))))
        .subscribe((left) => {
          failures = left === 0 ? 0 : failures + 1;
          cancel();
          if (left === 0) return;
          const waitMs = exponentialBackoff(failures, deps.random, { maxMs: 30_000 });
          cancel = clock.after(waitMs, () => again.next());
        }),
    );
    cancels.push(() => cancel());
  }

  return {
    wake: (target) => woken.next(target),
    stop: async () => {
      abort.abort();
      for (const subscription of subscriptions) subscription.unsubscribe();
      for (const cancel of cancels) cancel();
    },
  };
};
