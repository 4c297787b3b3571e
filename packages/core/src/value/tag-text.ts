import { compareUtf8 } from './canonical.ts';

/** `key=value` of each tag, sorted by key, joined by commas: for people, not for parsing. */
export const formatTags = (tags: Readonly<Record<string, string>> | null | undefined): string =>
  Object.entries(tags ?? {})
    .sort(([left], [right]) => compareUtf8(left, right))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
