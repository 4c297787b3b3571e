import { AppError, type ErrorCode } from '@infrakit/core';
import type { Position } from './position.ts';

/** One thing wrong with a document, or worth a warning: where, at which path (empty: the whole), and what to do. */
export interface Problem extends Position {
  readonly file: string;
  readonly path: string;
  readonly message: string;
}

/** Control characters and halves of characters as escapes: what a document says never reaches a terminal as it is. */
const harmless = (text: string): string =>
  text.replace(/\p{Cc}|\p{Cs}|\p{Cf}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** A problem at a place of a file; path and message are made safe to print. */
export const createProblem = (file: string, position: Position, path: string, message: string): Problem => ({
  file,
  line: position.line,
  column: position.column,
  path: harmless(path),
  message: harmless(message),
});

/** `miners.yml:7:5: properties.Allocatoin: unknown field, did you mean …?` */
export const formatProblem = ({ file, line, column, path, message }: Problem): string =>
  [`${file}:${line}:${column}`, ...(path === '' ? [] : [path]), message].join(': ');

const shown = 100;

/**
 * One error for all problems, in the order of the text: the message has a line for each, the facts have `problems` and
 * `total`. After the first 100 only their number is told, so that a hostile text cannot make a huge error.
 */
export const problemsError = (code: ErrorCode, problems: readonly Problem[], cause?: unknown): AppError => {
  const sorted = problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const first = sorted.slice(0, shown);
  const rest = sorted.length - first.length;
  const lines = [...first.map(formatProblem), ...(rest === 0 ? [] : [`… and ${rest} more`])];
  return new AppError(code, lines.join('\n'), { facts: { problems: first, total: sorted.length }, cause });
};
