/** A condition of a rule: what holds, since when, and why, in one sentence. */
export interface Condition {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly sinceMs: number;
}

/** What a controller tells the bus of one rule: never the spec, never rows (DESIGN §3). */
export interface ObjectState {
  readonly kind: string;
  readonly revision: number;
  readonly specHash: string;
  readonly conditions: readonly Condition[];
  readonly counts: Readonly<Record<string, number>>;
  readonly digest: string;
}

/** Port: the retained state topics of this plugin's objects, made whole again after a reconnect. */
export interface StatePublisher {
  readonly publish: (object: string, state: ObjectState) => void;
  readonly clear: (object: string) => void;
}
