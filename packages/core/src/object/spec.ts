import { z } from 'zod';

/** Name and tags of a spec; `id` is there on objects that exist (EI §0.3). */
export const Metadata = z.strictObject({
  id: z.string().min(1).optional(),
  name: z.string().min(1),
  tags: z.record(z.string(), z.string()).nullable().optional(),
});
export type Metadata = z.infer<typeof Metadata>;

/** Another item that must exist first; `bind` maps a variable to a path of that item (GP §0.3). */
export const Dependency = z.strictObject({
  kind: z.string().min(1),
  name: z.string().min(1),
  bind: z.record(z.string(), z.string()).optional(),
});
export type Dependency = z.infer<typeof Dependency>;

const envelope = {
  kind: z.string().min(1),
  version: z.string().optional(),
  metadata: Metadata,
  template: z.string().optional(),
  properties: z.unknown().optional(),
  options: z.unknown().optional(),
  depends: z.array(Dependency).optional(),
};

/** The envelope of every committed item (GP §0.3): `properties` is the desired state, `options` how it is kept. */
export const Spec = z.strictObject(envelope);
export type Spec = z.infer<typeof Spec>;

/** A spec with what is known of the thing itself. */
export const SpecObject = z.strictObject({ ...envelope, state: z.unknown().optional() });
export type SpecObject = z.infer<typeof SpecObject>;
