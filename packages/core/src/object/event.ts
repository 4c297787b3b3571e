import { z } from 'zod';

/** Old publishers wrote an error as an object with nothing in it: what it said is lost (GP-E8, EI §5.1). */
const ErrorText = z.union([z.string(), z.looseObject({}).transform(() => undefined)]);

/**
 * A message about the past (GP §3.1, EI §5.1). `Topic` is relative to its publisher; times are RFC 3339.
 * `Received` is left out until a receiver sets it (EI-V2); `Error` is text (EI-V3). A trigger needs no more than the topic.
 */
export const Event = z.strictObject({
  Topic: z.string(),
  Type: z.string().optional(),
  ID: z.string(),
  Message: z.string().default(''),
  Timestamp: z.string(),
  Received: z.string().optional(),
  Data: z.unknown().optional(),
  Error: ErrorText.optional(),
});
export type Event = z.infer<typeof Event>;
