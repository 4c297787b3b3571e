import type { z } from 'zod';

/** A zod schema of any kind, as zod's own union of kinds. */
export type AnySchema = z.core.$ZodType;

const kinds = (schema: AnySchema): z.core.$ZodTypes => schema as z.core.$ZodTypes;

/** A schema without what says nothing of its structure: optional, nullable, default, readonly, lazy, transforms, pipes. */
export const unwrap = (wrapped: AnySchema): z.core.$ZodTypes => {
  const schema = kinds(wrapped);
  const { def } = schema._zod;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'nonoptional':
    case 'default':
    case 'prefault':
    case 'readonly':
    case 'catch':
      return unwrap(def.innerType);
    case 'lazy':
      return unwrap((schema as z.core.$ZodLazy)._zod.innerType);
    case 'pipe':
      return kinds(def.in)._zod.def.type === 'transform' ? unwrap(def.out) : unwrap(def.in);
    default:
      return schema;
  }
};

/** The fields of a typed object; `rest` is the schema of fields without a name of their own, where there may be any. */
export interface Fields {
  readonly shape: Readonly<Record<string, AnySchema>>;
  readonly rest: AnySchema | undefined;
}

/** The fields of an object schema, or of an intersection of them; undefined for everything else. */
export const fieldsOf = (schema: z.core.$ZodTypes): Fields | undefined => {
  const { def } = schema._zod;
  if (def.type === 'object') {
    const rest = def.catchall === undefined || kinds(def.catchall)._zod.def.type === 'never' ? undefined : def.catchall;
    return { shape: def.shape, rest };
  }
  if (def.type !== 'intersection') return undefined;
  const left = fieldsOf(unwrap(def.left));
  const right = fieldsOf(unwrap(def.right));
  if (left === undefined || right === undefined) return undefined;
  return { shape: { ...left.shape, ...right.shape }, rest: left.rest ?? right.rest };
};
