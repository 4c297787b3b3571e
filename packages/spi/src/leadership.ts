import type { Observable } from 'rxjs';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

/** Who leads, as this candidate knows it. `term` is the fencing token, and rises with each new leader (Law 12). */
export const LeaderState = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('leading'), term: z.number().int().min(1), leaseMs: z.number().min(0) }),
  z.strictObject({ kind: z.literal('following'), location: z.string().optional() }),
  z.strictObject({ kind: z.literal('unknown'), reason: z.string() }),
]);
export type LeaderState = z.infer<typeof LeaderState>;

/** `campaign` enters this candidate and answers at once; `resign` steps down and waits until others can lead. */
export const leadershipInterface = {
  name: 'Leadership',
  version: '1.0.0',
  methods: {
    state: reading(z.strictObject({}), LeaderState),
    campaign: mutating(z.strictObject({ location: z.string() }), z.strictObject({})),
    resign: mutating(z.strictObject({}), z.strictObject({})),
  },
} as const;

/** {@link leadershipInterface} as TypeScript, and the state as it changes, the present one first. */
export type Leadership = SpiOf<typeof leadershipInterface> & {
  readonly watch: () => Observable<LeaderState>;
};
