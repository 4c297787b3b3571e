import { compareUtf8 } from '../value/canonical.ts';

/** A path taken apart: a leading `''` makes it absolute, a trailing `''` is its final slash (GP §0.4, EI §2.9). */
export type PathSegments = readonly string[];

const clean = (parts: PathSegments): PathSegments => {
  const isAbsolute = parts.length > 1 && parts[0] === '';
  const last = parts.at(-1);
  const hasSlash = parts.length > 1 && (last === '' || last === '.');
  const kept: string[] = [];
  for (const part of parts) {
    if (part === '' || part === '.') continue;
    if (part !== '..') kept.push(part);
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop();
    else if (!isAbsolute) kept.push(part);
  }
  if (kept.length === 0) return isAbsolute ? ['', ''] : ['.'];
  return [...(isAbsolute ? [''] : []), ...kept, ...(hasSlash ? [''] : [])];
};

/** Text to a clean path: `.` and doubled slashes vanish, `..` takes the segment before it, a final slash stays. */
export const parsePath = (text: string): PathSegments => clean(text.split('/'));

/** The text of a path; no segments print as `.`. */
export const formatPath = (path: PathSegments): string => (path.length === 0 ? '.' : path.join('/'));

const withoutSlash = (path: PathSegments): PathSegments =>
  path.length > 1 && path.at(-1) === '' ? path.slice(0, -1) : path;

/** `parent` without its final slash, then `child`, cleaned: `a/` and `b/c/` give `a/b/c/`. */
export const joinPath = (parent: PathSegments, child: PathSegments): PathSegments =>
  clean([...withoutSlash(parent), ...child]);

/** What follows `parent` in `path`; no segments where `parent` is no prefix; the path itself below `.`. */
export const relativePath = (path: PathSegments, parent: PathSegments): PathSegments => {
  const prefix = withoutSlash(parent);
  if (formatPath(prefix) === '.') return path;
  return prefix.every((segment, index) => path[index] === segment) ? path.slice(prefix.length) : [];
};

/** The path without its last segment: `.` for a single one, `/` directly below the root. */
export const dirPath = (path: PathSegments): PathSegments => {
  const dir = path.slice(0, -1);
  if (dir.length === 0) return ['.'];
  return dir.length === 1 && dir[0] === '' ? ['', ''] : dir;
};

/** The last segment; empty after a final slash. */
export const basePath = (path: PathSegments): string => path.at(-1) ?? '.';

/** The path without its first `count` segments. */
export const shiftPath = (path: PathSegments, count: number): PathSegments => path.slice(count);

/** Orders by segments, bytewise; a prefix sorts first. */
export const comparePaths = (left: PathSegments, right: PathSegments): number => {
  for (const [index, segment] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareUtf8(segment, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
};
