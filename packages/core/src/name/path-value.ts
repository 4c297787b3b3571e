import { AppError } from '../errors.ts';
import { compareUtf8 } from '../value/canonical.ts';
import type { PathSegments } from './path.ts';

const member = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

// `3`, `-1` from the end, or `field=value`: the first element with that field.
const element = (value: unknown, index: string): unknown => {
  if (!Array.isArray(value)) return undefined;
  if (/^-?\d+$/.test(index)) return value.at(Number(index));
  const equals = index.indexOf('=');
  if (equals < 1) return undefined;
  const [field, wanted] = [index.slice(0, equals), index.slice(equals + 1)];
  return value.find((item) => {
    const found = member(item, field);
    return found !== undefined && String(found) === wanted;
  });
};

const step = (value: unknown, segment: string): unknown => {
  if (segment === '' || segment === '.') return value;
  const exact = member(value, segment);
  const indexed = /^([^[\]]*)((?:\[[^[\]]+\])+)$/.exec(segment);
  if (exact !== undefined || indexed === null) return exact;
  const [, name = '', indices = ''] = indexed;
  const start = name === '' ? value : member(value, name);
  return indices
    .slice(1, -1)
    .split('][')
    .reduce((list: unknown, index) => element(list, index), start);
};

/**
 * The value at a path: segments select members of objects, `[n]` or `name[n]` items of lists (negative from the end),
 * `[field=value]` the first item with that field; `.` is the value itself (GP §0.4).
 * What is missing or out of range is `undefined` (EI-T6).
 */
export const getByPath = (value: unknown, path: PathSegments): unknown => path.reduce(step, value);

/**
 * The children of the value at a path: member names, or `[0]`, `[1]` … of a list, sorted as strings. A scalar has none;
 * a missing path is `undefined`.
 */
export const listChildren = (value: unknown, path: PathSegments): string[] | undefined => {
  const at = getByPath(value, path);
  if (at === undefined) return undefined;
  if (typeof at !== 'object' || at === null) return [];
  return (Array.isArray(at) ? at.map((_, index) => `[${index}]`) : Object.keys(at)).sort(compareUtf8);
};

/** One component of a JSON pointer, escaped: `~` is `~0`, `/` is `~1` (RFC 6901 §3). */
export const escapePointer = (component: string): string => component.replaceAll('~', '~0').replaceAll('/', '~1');

/** The components of a JSON pointer; a leading slash is optional, as old `bind` pointers have none. Errors: `PATH_INVALID`. */
export const parsePointer = (text: string): string[] => {
  if (/~(?![01])/.test(text)) {
    throw new AppError('PATH_INVALID', `bad escape in pointer ${JSON.stringify(text)}: ~ is written ~0`, {
      facts: { text },
    });
  }
  if (text === '') return [];
  return (text.startsWith('/') ? text.slice(1) : text)
    .split('/')
    .map((component) => component.replaceAll('~1', '/').replaceAll('~0', '~'));
};

/** The text of a JSON pointer (RFC 6901): each component escaped, after a slash. */
export const formatPointer = (components: readonly string[]): string =>
  components.map((component) => `/${escapePointer(component)}`).join('');

/** The value at a JSON pointer's components; numbers address list items; what is missing is `undefined`. */
export const getByPointer = (value: unknown, components: readonly string[]): unknown =>
  components.reduce<unknown>(
    (at, component) =>
      Array.isArray(at)
        ? /^(0|[1-9]\d*)$/.test(component)
          ? at[Number(component)]
          : undefined
        : member(at, component),
    value,
  );
