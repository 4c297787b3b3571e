import type { Cause } from '../object/membership.ts';

/** A join key, or why there is none. An entry without a key is quarantined, never guessed at (Law 5). */
export type Key =
  | { readonly kind: 'known'; readonly value: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** What a source wants to exist in the sink: one member, slot, route or mirror. */
export interface DesiredEntry {
  /** Identity in the source (member id, slot number); unique within it. */
  readonly id: string;
  readonly key: Key;
  /** Digest of the rendered content; left out where content is not compared. */
  readonly content?: string;
}

/**
 * Whose an observed entry is (Law 4).
 * `ours`: the owner label says so. `named`: only the old name label does; `judged` once all stored specs are back.
 * `untagged`: no label of anybody, its key makes it count as enrolled; `adopted` when a request or option hands it to us.
 * `foreign`: somebody else's.
 */
export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'named'; readonly judged: boolean }
  | { readonly kind: 'untagged'; readonly adopted: boolean; readonly destroyable: boolean }
  | { readonly kind: 'foreign'; readonly owner?: string };

/** What exists in the sink. */
export interface ObservedEntry {
  /** Identity in the sink (instance id); unique within it. */
  readonly id: string;
  readonly key: Key;
  readonly ownership: Ownership;
  /** The source id that the entry was made for, from its tags. */
  readonly sourceId?: string;
  readonly content?: string;
  /** Milliseconds since 1970, where the sink tells; the oldest of several duplicates is kept. */
  readonly createdMs?: number;
}

/** Why a destroy is expected (Law 6). A destroy without one counts against the budget. */
export type Explanation =
  | { readonly by: 'departure'; readonly cause: Exclude<Cause, 'vanished'>; readonly revision: number }
  | { readonly by: 'commit'; readonly revision: number }
  | { readonly by: 'empty'; readonly reason: 'target' | 'destroyed' };

/** What a source said when it was read. Only `known` may cause a destroy (Law 1). */
export type SourceReading =
  | {
      readonly kind: 'known';
      readonly entries: readonly DesiredEntry[];
      /** How many the source wants; left out for a source without a target, such as a static list. */
      readonly target?: number;
      /** How many it has, compared with `target` to tell whether it is whole. */
      readonly count?: number;
      readonly phase?: 'running' | 'destroyed';
    }
  | { readonly kind: 'partial'; readonly reason: string; readonly entries: readonly DesiredEntry[] }
  | { readonly kind: 'unknown'; readonly reason: string };
