import { z } from 'zod';

const Count = z.number().int().min(0);

/** How many members a group has: a size (0 is legal: GP-G6), or one member for each logical id. */
export const Allocation = z.strictObject({
  Size: Count.optional(),
  LogicalIDs: z.array(z.string().min(1)).optional(),
});
export type Allocation = z.infer<typeof Allocation>;

/** Which member is being prepared: its group, and its own slot (not the target size: GP-G14). */
export const MemberIndex = z.strictObject({ Group: z.string(), Sequence: Count });
export type MemberIndex = z.infer<typeof MemberIndex>;

/** Health as the flavor sees it. On old wires these were 0, 1 and 2, in this order (GP §2.3). */
export const Health = z.enum(['unknown', 'healthy', 'unhealthy']);
export type Health = z.infer<typeof Health>;
