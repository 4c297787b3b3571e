import { z } from 'zod';
import { Allocation } from './flavor.ts';
import type { Spec } from './spec.ts';

/** A plugin and the properties handed to it unchanged. `Options` serves dependency resolution only (GP §1.1). */
export const PluginProperties = z.strictObject({
  Plugin: z.string().min(1),
  Properties: z.unknown().optional(),
  Options: z.unknown().optional(),
});
export type PluginProperties = z.infer<typeof PluginProperties>;

/** How a changed configuration reaches the members (GP §1.1). `Duration` is Go duration text. */
export const Updating = z.strictObject({
  Count: z.number().int().min(0).optional(),
  Duration: z.string().optional(),
  SkipBeforeInstanceDestroy: z.literal('drain').nullable().optional(),
});
export type Updating = z.infer<typeof Updating>;

/** The body of a group spec, the same in both envelopes (GP §1.1). */
export const GroupProperties = z.strictObject({
  Allocation,
  Instance: PluginProperties,
  Flavor: PluginProperties,
  Updating: Updating.optional(),
});
export type GroupProperties = z.infer<typeof GroupProperties>;

/** The legacy envelope of a group: `{"ID": …, "Properties": …}` (GP §1.1). */
export const LegacyGroupSpec = z.strictObject({ ID: z.string().min(1), Properties: z.unknown() });
export type LegacyGroupSpec = z.infer<typeof LegacyGroupSpec>;

/** A legacy group as the envelope that everything else uses; both commit to the same stored group (GP §8.2). */
export const fromLegacyGroup = (legacy: LegacyGroupSpec): Spec => ({
  kind: 'group',
  metadata: { name: legacy.ID },
  properties: legacy.Properties,
});
