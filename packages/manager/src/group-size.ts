import { AppError, type Json, type Spec } from '@infrakit/core';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameIn = (fields: Fields, name: string): string =>
  Object.hasOwn(fields, name)
    ? name
    : (Object.keys(fields).find((key) => key.toLowerCase() === name.toLowerCase()) ?? name);

const partOf = (fields: Fields, name: string): Fields => {
  const part = fields[nameIn(fields, name)];
  return isFields(part) ? part : {};
};

const allocationOf = (spec: Spec): Fields => partOf(isFields(spec.properties) ? spec.properties : {}, 'Allocation');

/** The size that a group spec asks for; a group of logical ids has one member for each. */
export const sizeOf = (spec: Spec): number => {
  const allocation = allocationOf(spec);
  const ids = allocation[nameIn(allocation, 'LogicalIDs')];
  if (Array.isArray(ids) && ids.length > 0) return ids.length;
  const size = allocation[nameIn(allocation, 'Size')];
  return typeof size === 'number' ? size : 0;
};

/** The spec with another size and nothing else changed, whatever the case of its fields. `GROUP_INVALID` for logical ids. */
export const withSize = (spec: Spec, size: number): Spec => {
  const properties = isFields(spec.properties) ? spec.properties : {};
  const allocation = allocationOf(spec);
  const ids = allocation[nameIn(allocation, 'LogicalIDs')];
  if (Array.isArray(ids) && ids.length > 0) {
    throw new AppError('GROUP_INVALID', 'cannot set size when logical ids are explicitly set');
  }
  const sized: Fields = { ...allocation, [nameIn(allocation, 'Size')]: size };
  return { ...spec, properties: { ...properties, [nameIn(properties, 'Allocation')]: sized as Json } };
};
