import { parseTags, toAppError } from '@infrakit/core';
import { usageError } from './exit.ts';

/** The tags of words `key=value`; a malformed one is wrong usage, told with the flag that it belongs to. */
export const tagWords = (words: readonly string[], flag?: string): Record<string, string> => {
  try {
    return { ...parseTags(words) };
  } catch (thrown) {
    throw usageError(`${flag === undefined ? '' : `${flag}: `}${toAppError(thrown).message}`);
  }
};
