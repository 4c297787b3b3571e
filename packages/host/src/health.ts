import type { ObjectState, StatePublisher } from '@infrakit/spi';
import { z } from 'zod';

/** How one object of a plugin is: what it last told the bus of itself, and how long ago. */
export const ObjectHealth = z.strictObject({
  object: z.string(),
  isReady: z.boolean(),
  reason: z.string(),
  /** Since when it is so, in ms. */
  ageMs: z.number().min(0),
});
export type ObjectHealth = z.infer<typeof ObjectHealth>;

/** A state port that remembers what went through it. */
export interface WatchedState {
  readonly state: StatePublisher;
  /** Objects in the order in which they were first told of; one without the condition `Ready` is ready. */
  readonly health: () => ObjectHealth[];
}

/** Wraps a state port, so that a host can tell how the rules of its controllers are (Law 10). */
export const watchState = (state: StatePublisher, nowMs: () => number): WatchedState => {
  const told = new Map<string, { readonly state: ObjectState; readonly atMs: number }>();
  return {
    state: {
      publish: (object, next) => {
        told.set(object, { state: next, atMs: nowMs() });
        state.publish(object, next);
      },
      clear: (object) => {
        told.delete(object);
        state.clear(object);
      },
    },
    health: () =>
      [...told].map(
        ([
          object,
          {
            state: { conditions },
            atMs,
          },
        ]) => {
          const ready = conditions.find(({ type }) => type === 'Ready');
          return {
            object,
            isReady: ready?.isTrue ?? true,
            reason: ready?.reason ?? '',
            ageMs: Math.max(0, nowMs() - (ready?.sinceMs ?? atMs)),
          };
        },
      ),
  };
};
