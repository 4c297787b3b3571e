import type { Fencing } from './fencing.ts';

/** A note of a long call about how far it is; each one extends the deadline up to the method's maximum (DESIGN §3). */
export interface Progress {
  readonly message: string;
  /** 0 to 1, where the callee knows. */
  readonly fraction?: number;
}

/** What travels with every SPI call. */
export interface CallContext {
  /** Aborted when the caller gives up, the deadline passes, or a lease is lost. */
  readonly signal: AbortSignal;
  /** How long the caller waits; after it the caller has `RPC_TIMEOUT`, never a hang (Law 10). */
  readonly timeoutMs: number;
  /** The same key asks for the same living thing, however often it is sent (Law 7). */
  readonly idempotencyKey?: string;
  /** Token of the leader that calls; a callee that has seen a higher term in its scope refuses with `TERM_STALE` (Law 12). */
  readonly fencing?: Fencing;
  /** Ties the log lines of one cycle or command together across processes. */
  readonly trace?: string;
  readonly progress?: (note: Progress) => void;
}
