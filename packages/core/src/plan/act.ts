import type { Explanation } from './entry.ts';

/** One line of a plan. Only `create`, `label`, `replace`, `destroy` and `duplicate` with `reduce` change anything. */
export type Act =
  | { readonly kind: 'create'; readonly key: string; readonly sourceId: string; readonly content?: string }
  | { readonly kind: 'keep'; readonly key: string; readonly sourceId: string; readonly id: string }
  | { readonly kind: 'label'; readonly key: string; readonly sourceId?: string; readonly id: string }
  | {
      readonly kind: 'replace';
      readonly key: string;
      readonly sourceId: string;
      readonly id: string;
      readonly content: string;
    }
  | {
      readonly kind: 'destroy';
      readonly id: string;
      readonly key?: string;
      readonly sourceId?: string;
      readonly explained?: Explanation;
    }
  | {
      readonly kind: 'duplicate';
      readonly key: string;
      readonly id: string;
      readonly of: string;
      readonly reduce: boolean;
    }
  | { readonly kind: 'quarantined'; readonly side: 'source' | 'sink'; readonly id: string; readonly reason: string }
  | { readonly kind: 'foreign'; readonly id: string; readonly owner?: string };

/** What a cycle is going to do, complete and in order (Law 3). `id` is the hash of the acts that change something. */
export interface Plan {
  readonly id: string;
  readonly acts: readonly Act[];
}
