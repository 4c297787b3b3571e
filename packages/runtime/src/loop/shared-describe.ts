import { AppError } from '@infrakit/core';
import { frozenCopy } from '@infrakit/spi';
import { type Clock, systemClock } from '../work/clock.ts';

/** A complete listing of a sink: plain data with a digest of the observed content. */
export interface Listing {
  readonly kind: string;
  readonly digest: string;
}

/** Word that the content still has the digest that was sent. */
export interface Unchanged {
  readonly kind: 'unchanged';
  readonly digest: string;
}

/** What a rule asks of a shared describe. */
export interface DescribeOptions {
  /** The digest that the caller has: it gets `unchanged` instead of the same listing. */
  readonly digest?: string;
  /** Time of the newest trigger, in ms of the clock: a describe begun by then may not show it, and is not shared. */
  readonly since?: number;
}

/** Describes that the rules on one sink and filter share (DESIGN §4). */
export interface SharedDescribes<L extends Listing> {
  /**
   * The listing of `sink` under `filter` (a string that is equal exactly for equal filters): that of a describe begun
   * less than the window ago, in progress or done, else of a new one. `read` gets the digest of the last listing and
   * may answer `unchanged` to it. Listings are frozen copies, shared by all (EI-P5). An error reaches all who wait for
   * it and is not kept. `RESULT_INVALID` when `read` answers `unchanged` to a digest that it was not sent.
   */
  describe(
    sink: string,
    filter: string,
    read: (digest: string | undefined) => Promise<L | Unchanged>,
    options?: DescribeOptions,
  ): Promise<L | Unchanged>;
  /** Forgets all listings of a sink, those still being read included: nobody who asks from now on gets them. */
  invalidate(sink: string): void;
  /** Runs a write, and invalidates before and after it, so that no describe begun before its end is kept (GP-S4). */
  write<T>(sink: string, act: () => Promise<T>): Promise<T>;
}

interface Slot<L> {
  /** When the describe began, and its listing; undefined after an error. */
  flight: { readonly startedMs: number; readonly listing: Promise<L> } | undefined;
  /** The newest listing, for its digest. */
  last: L | undefined;
}

const isUnchanged = (answer: Listing): answer is Unchanged => answer.kind === 'unchanged';

/** No listing yet. A describe serves those who come within `windowMs` of its beginning; with 0, nobody else. */
export const sharedDescribes = <L extends Listing>(
  windowMs: number,
  clock: Clock = systemClock,
): SharedDescribes<L> => {
  const sinks = new Map<string, Map<string, Slot<L>>>();

  const slotOf = (sink: string, filter: string): Slot<L> => {
    const slots = sinks.get(sink) ?? new Map<string, Slot<L>>();
    sinks.set(sink, slots);
    const slot = slots.get(filter) ?? { flight: undefined, last: undefined };
    slots.set(filter, slot);
    return slot;
  };

  const take = (answer: L | Unchanged, last: L | undefined): L => {
    if (!isUnchanged(answer)) return frozenCopy(answer);
    if (last?.digest === answer.digest) return last;
    const facts = { sent: last?.digest, answered: answer.digest };
    throw new AppError('RESULT_INVALID', 'describe answered unchanged to a digest that it was not sent', { facts });
  };

  const begin = (slot: Slot<L>, read: (digest: string | undefined) => Promise<L | Unchanged>): Promise<L> => {
    const { last } = slot;
    const listing = (async () => take(await read(last?.digest), last))();
    const flight = { startedMs: clock.now(), listing };
    slot.flight = flight;
    listing.then(
      (done) => {
        if (slot.flight === flight) slot.last = done;
      },
      () => {
        if (slot.flight === flight) slot.flight = undefined;
      },
    );
    return listing;
  };

  const invalidate = (sink: string): void => {
    sinks.delete(sink);
  };

  return {
    describe: async (sink, filter, read, { digest, since = Number.NEGATIVE_INFINITY } = {}) => {
      const slot = slotOf(sink, filter);
      const { flight } = slot;
      const isShared = flight !== undefined && clock.now() - flight.startedMs < windowMs && flight.startedMs > since;
      const listing = await (isShared ? flight.listing : begin(slot, read));
      return listing.digest === digest ? { kind: 'unchanged', digest } : listing;
    },
    invalidate,
    write: async (sink, act) => {
      invalidate(sink);
      try {
        return await act();
      } finally {
        invalidate(sink);
      }
    },
  };
};
