/**
 * A deeply frozen value equal to `value`: what is already frozen is passed as it is, the rest is copied first, so that
 * neither side of an in-process call can change what the other holds. For JSON-like values; other objects pass through.
 */
export const frozenCopy = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const entries = Object.entries(value).map(([key, child]): [string, unknown] => [key, frozenCopy(child)]);
  return Object.freeze(Object.fromEntries(entries)) as T;
};
