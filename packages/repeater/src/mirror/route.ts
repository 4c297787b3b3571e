/** What was mirrored by one rule so far. */
export interface RouteCounter {
  messages: number;
  bytes: number;
  /** Too large, or not to be put into the wanted form. */
  dropped: number;
  /** Given up because a buffer was full. */
  overflowed: number;
  /** Why the last one was dropped, as far as that is told; empty for nothing. */
  lastDrop: string;
}

/** Nothing so far. */
export const routeCounter = (): RouteCounter => ({ messages: 0, bytes: 0, dropped: 0, overflowed: 0, lastDrop: '' });

/** Where and how the messages of one topic go. */
export interface Route {
  readonly topic: string;
  /** `keep`: as the source gives it. `if-told`: the same of a source of MQTT 5, which tells how it was published; else never. */
  readonly retain: 'never' | 'always' | 'keep' | 'if-told';
  /** The largest payload, in bytes. */
  readonly maxBytes: number;
  readonly counter: RouteCounter;
  /** Another form of the payload; null for one that cannot be brought into it. */
  readonly form?: (payload: Buffer) => Buffer | null;
  /** What that form is called, for a sink that speaks MQTT 5. */
  readonly contentType?: string;
}

/** Where a topic goes, or null where no rule wants it. */
export type RouteMap = (topic: string) => Route | null;
