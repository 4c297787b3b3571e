import type {
  AppError,
  Departure,
  Explanation,
  ObservedEntry,
  Plan,
  PlanInput,
  Policy,
  SourceReading,
} from '@infrakit/core';
import type { CallContext } from '@infrakit/spi';

/** What a source said, in its own terms. Only `known` may cause a destroy (Law 1). */
export type Source<S> =
  | {
      readonly kind: 'known';
      readonly items: readonly S[];
      readonly target?: number;
      readonly count?: number;
      readonly phase?: 'running' | 'destroyed';
      /** Who left and why, as far back as this rule has not settled them (Law 6). */
      readonly departures?: readonly Departure[];
      /** The membership revision this reading stands for. */
      readonly revision?: number;
    }
  | { readonly kind: 'partial'; readonly reason: string; readonly items: readonly S[] }
  | {
      readonly kind: 'unknown';
      readonly reason: string;
      /** Set when the reading failed rather than said so; it is then tried again like a failed cycle. */
      readonly error?: AppError;
    };

/** Both sides with their keys, and the way back from a planned act to the item it is for. */
export interface Keyed<S> {
  readonly source: SourceReading;
  readonly observed: readonly ObservedEntry[];
  readonly itemOf: (sourceId: string) => S | undefined;
  /** Why an entry is expected to go, beyond departures and commits, which the loop knows. */
  readonly explain?: (entry: ObservedEntry) => Explanation | undefined;
}

/** How a rule is kept. Defaults of the controllers are in their schemas. */
export interface RuleSettings {
  readonly policy: Policy;
  readonly onChange: NonNullable<PlanInput['onChange']>;
  readonly sourcePolicy: NonNullable<PlanInput['sourcePolicy']>;
  readonly enrollmentPolicy: NonNullable<PlanInput['enrollmentPolicy']>;
  /** Adds before removes, unless the sink has no room for both (Law 9). */
  readonly order: 'adds-first' | 'removes-first';
  readonly maxDestroyPercent: number;
  readonly maxDestroyFloor: number;
  /** Deadline of each read and of each act, in ms (Law 10). */
  readonly callTimeoutMs: number;
  /** The most that a callee's `progress` can stretch that deadline to, in ms from the start of the call. */
  readonly maxCallTimeoutMs: number;
  /** How long an accepted act may stay invisible in the sink before it counts as not done, in ms (EI-E15). */
  readonly graceMs: number;
}

/** How a rule is kept where nothing else is said (DESIGN §4). */
export const defaultRuleSettings: RuleSettings = {
  policy: 'sync',
  onChange: 'keep',
  sourcePolicy: 'Quarantine',
  enrollmentPolicy: 'Quarantine',
  order: 'adds-first',
  maxDestroyPercent: 30,
  maxDestroyFloor: 3,
  callTimeoutMs: 30_000,
  maxCallTimeoutMs: 300_000,
  graceMs: 30_000,
};

/** What a controller gives the loop for one committed spec: two adapters and what it wants. `S` source items, `O` observed. */
export interface Rule<S, O> {
  /** `<controller>/<rule>`: names the queue, the journal keys and the log lines. */
  readonly name: string;
  /** The owner label (Law 4), part of each idempotency key (Law 7). */
  readonly owner: string;
  readonly settings: RuleSettings;
  /** The accepted spec's revision, and whether that commit changed the list or source (Law 6). */
  readonly revision: number;
  readonly readSource: (ctx: CallContext) => Promise<Source<S>>;
  readonly readSink: (ctx: CallContext) => Promise<readonly O[]>;
  /** Pure: the keys and the ownership of both sides. */
  readonly keys: (source: Source<S>, observed: readonly O[]) => Keyed<S>;
  /** Digest of what `create` would make for an item; part of its idempotency key (Law 7). */
  readonly contentOf: (item: S) => string;
  /** Durable preparation before the acts of a plan, such as a journal of departures; a failure stops the cycle before it acts. */
  readonly prepare?: (plan: Plan, ctx: CallContext) => Promise<void>;
  /** Makes one entry and answers its id in the sink. */
  readonly create: (item: S, ctx: CallContext) => Promise<string>;
  /** Writes the rule's labels on an entry that is there. */
  readonly label: (id: string, sourceId: string | undefined, ctx: CallContext) => Promise<void>;
  readonly destroy: (id: string, reason: 'terminate' | 'rolling_update', ctx: CallContext) => Promise<void>;
  /** Called when nothing that left up to this membership revision is left to remove: departures may be trimmed. */
  readonly settled?: (revision: number, ctx: CallContext) => Promise<void>;
}
