import { AppError } from '../errors.ts';

/** The level that stands for the empty name: the default object of a plugin, or an empty path segment. */
const emptyLevel = '-';

// A level must not be empty (DESIGN §3), and `.` and `..` would vanish when a topic is cleaned as a path.
const special: ReadonlyMap<string, string> = new Map([
  ['', emptyLevel],
  ['-', '%2D'],
  ['.', '%2E'],
  ['..', '%2E%2E'],
]);

/**
 * Any name as one MQTT topic level, by percent-encoding (DESIGN §3): `/ + # $`, blanks and everything outside ASCII become
 * `%XX` of their UTF-8 bytes; the empty name becomes `-`, a name `-` becomes `%2D`. One name, one level.
 * Errors: `NAME_INVALID` for text with half a surrogate pair, which UTF-8 cannot carry.
 */
export const encodeLevel = (name: string): string => {
  try {
    return special.get(name) ?? encodeURIComponent(name);
  } catch (cause) {
    throw new AppError('NAME_INVALID', 'a name must be well-formed Unicode', { facts: { name }, cause });
  }
};

/** The name of a level; only what {@link encodeLevel} writes is accepted. Errors: `NAME_INVALID`. */
export const decodeLevel = (level: string): string => {
  if (level === emptyLevel) return '';
  let name: string | undefined;
  try {
    name = decodeURIComponent(level);
  } catch {
    name = undefined;
  }
  if (name === undefined || encodeLevel(name) !== level) {
    throw new AppError('NAME_INVALID', `not an encoded topic level: ${JSON.stringify(level)}`, { facts: { level } });
  }
  return name;
};
