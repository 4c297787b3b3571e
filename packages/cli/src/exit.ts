import { AppError, errorTable, toAppError } from '@infrakit/core';

/** What the exit code of a command line means (DESIGN §6). */
export const exits = {
  done: 0,
  failed: 1,
  held: 2,
  pending: 3,
  usage: 64,
  unreachable: 69,
  unknownObject: 127,
} as const;

/** An error as its exit code and its one sentence for stderr. */
export const exitOf = (thrown: unknown): { readonly code: number; readonly sentence: string } => {
  const error = toAppError(thrown);
  return { code: errorTable[error.code].exit, sentence: error.message };
};

/** Wrong usage of the command line: exit 64. */
export const usageError = (sentence: string): AppError => new AppError('ARGUMENT_INVALID', sentence);
