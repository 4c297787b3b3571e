const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/**
 * A copy of plain data, frozen all through: neither who gave it nor who got it can change it for others (EI-P5).
 * Only arrays and plain objects are copied; anything else within is kept as it is.
 */
export const frozenCopy = <T>(value: T): T => copy(value) as T;

const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, held]) => [key, copy(held)])));
};
