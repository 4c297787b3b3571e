import { subscribeFrame, unsubscribeFrame, type Wanted } from '../wire/handshake.ts';

/** The subscriptions of one connection to a source. */
export interface LinkSubscriptions {
  /** Asks for what is wanted and not there, and gives up what is no longer wanted; nothing else is touched. */
  readonly want: (wanted: readonly Wanted[]) => void;
  /** An answer to a SUBSCRIBE. */
  readonly answered: (messageId: number, codes: Uint8Array) => void;
  readonly stateOf: (filter: string) => 'asked' | 'granted' | 'refused' | 'none';
  /** Filters that the source knows. */
  readonly known: () => ReadonlySet<string>;
}

/** Filters in one SUBSCRIBE. */
const batch = 100;

/** Subscriptions, some of which the source still knows from before. The frames that are needed go to `send`. */
export const linkSubscriptions = (
  before: ReadonlySet<string>,
  deps: { readonly version: 4 | 5; readonly send: (frame: Buffer) => void },
): LinkSubscriptions => {
  const states = new Map<string, 'asked' | 'granted' | 'refused'>();
  for (const filter of before) states.set(filter, 'granted');
  const asked = new Map<number, readonly string[]>();
  let lastId = 0;
  const nextId = (): number => {
    lastId = (lastId % 65_535) + 1;
    return lastId;
  };
  const batches = <T>(all: readonly T[]): T[][] =>
    Array.from({ length: Math.ceil(all.length / batch) }, (_, n) => all.slice(n * batch, (n + 1) * batch));

  return {
    want: (wanted) => {
      const filters = new Set(wanted.map(({ filter }) => filter));
      const missing = wanted.filter(({ filter }) => !states.has(filter));
      const surplus = [...states.keys()].filter((filter) => !filters.has(filter));
      // First what is added: where one filter takes the place of another nothing is lost.
      for (const some of batches(missing)) {
        const id = nextId();
        asked.set(
          id,
          some.map(({ filter }) => filter),
        );
        for (const { filter } of some) states.set(filter, 'asked');
        deps.send(subscribeFrame(some, id, deps.version));
      }
      for (const some of batches(surplus)) {
        for (const filter of some) states.delete(filter);
        deps.send(unsubscribeFrame(some, nextId(), deps.version));
      }
    },
    answered: (messageId, codes) => {
      for (const [n, filter] of (asked.get(messageId) ?? []).entries()) {
        if (states.get(filter) === 'asked') states.set(filter, (codes[n] ?? 0x80) < 0x80 ? 'granted' : 'refused');
      }
      asked.delete(messageId);
    },
    stateOf: (filter) => states.get(filter) ?? 'none',
    known: () => new Set([...states].flatMap(([filter, state]) => (state === 'granted' ? [filter] : []))),
  };
};
