import { z } from 'zod';

const TagMap = z.record(z.string(), z.string());

/**
 * One instance as its plugin sees it (EI §0.4, GP §2.2). `LogicalID` and `Tags` are always present and may be null;
 * the rest is left out when unknown. `Created` is RFC 3339.
 */
export const InstanceDescription = z.strictObject({
  ID: z.string().min(1),
  LogicalID: z.string().nullable().default(null),
  Tags: TagMap.nullable().default(null),
  Properties: z.unknown().optional(),
  Address: z.string().optional(),
  State: z.string().optional(),
  Created: z.string().optional(),
});
export type InstanceDescription = z.infer<typeof InstanceDescription>;

/** Something outside an instance that it is tied to, such as a volume. */
export const Attachment = z.strictObject({ ID: z.string(), Type: z.string() });
export type Attachment = z.infer<typeof Attachment>;

/** What Provision is asked to make; all five fields are always present on the wire (EI §0.4). */
export const InstanceSpec = z.strictObject({
  Properties: z.unknown(),
  Tags: TagMap,
  Init: z.string().default(''),
  LogicalID: z.string().nullable().default(null),
  Attachments: z.array(Attachment).nullable().default(null),
});
export type InstanceSpec = z.infer<typeof InstanceSpec>;

/** Why an instance is destroyed: `terminate`, `rolling_update`, or free text (GP §2.2). */
export const DestroyContext = z.strictObject({ Reason: z.string().min(1) });
export type DestroyContext = z.infer<typeof DestroyContext>;
