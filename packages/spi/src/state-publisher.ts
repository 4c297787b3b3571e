import type { StateCondition, StatePayload } from '@infrakit/core';

/** What holds of a rule, since when, and why, in one sentence. */
export type Condition = StateCondition;

/** What a controller tells the bus of one rule; the bus adds which incarnation said it, and in what order. */
export type ObjectState = Omit<StatePayload, 'incarnation' | 'seq' | 'term'>;

/** Port: the retained state topics of this plugin's objects, made whole again after a reconnect. */
export interface StatePublisher {
  readonly publish: (object: string, state: ObjectState) => void;
  readonly clear: (object: string) => void;
}
