import { AppError, type ErrorCode } from '@infrakit/core';
import type { ProgramEnd } from './run-program.ts';

/** What a program may say went wrong, by the exit code that says it without JSON. */
export const exitCodes: Readonly<Record<number, ErrorCode>> = {
  10: 'INSTANCE_INVALID',
  11: 'INSTANCE_NOT_FOUND',
  12: 'LABEL_REFUSED',
  13: 'TERM_STALE',
};

const codes: readonly ErrorCode[] = ['INSTANCE_FAILED', ...Object.values(exitCodes)];
const shownLength = 200;

const lastLine = (text: string): string | undefined =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .at(-1);

/** The beginning of a text, for a message. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text);

/** An answer that breaks the protocol: `RESULT_INVALID`, with words for the author of the program. */
export const badAnswer = (verb: string, sentence: string): AppError =>
  new AppError('RESULT_INVALID', `${verb}: ${sentence}`, { facts: { verb } });

const textOf = (verb: string, stdout: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stdout).trim();
  } catch (cause) {
    throw new AppError('RESULT_INVALID', `${verb}: what it printed on stdout is not UTF-8`, { cause });
  }
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const saidError = (verb: string, error: unknown): AppError => {
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') {
    return badAnswer(verb, 'an "error" must be {"code": "…", "message": "…"}');
  }
  const code = codes.find((known) => known === error.code);
  if (code !== undefined) return new AppError(code, error.message);
  return badAnswer(
    verb,
    `it answered an error with the code ${shown(error.code)}; known are ${codes.join(', ')} (message: ${error.message})`,
  );
};

/**
 * The JSON object that a run answered; empty when it printed nothing. Errors: what the program says, `INSTANCE_FAILED` for
 * other failures, `RPC_TIMEOUT` at its deadline, `RPC_CANCELLED`, `RESULT_INVALID` for what breaks the protocol.
 */
export const programAnswer = (
  verb: string,
  end: ProgramEnd,
  limits: { readonly deadlineMs: number; readonly maxOutputBytes: number },
): Readonly<Record<string, unknown>> => {
  if (end.kind === 'unstartable') throw new AppError('INSTANCE_FAILED', end.reason);
  const complaint = lastLine(end.stderr);
  const because = complaint === undefined ? '' : ` (its last words: ${complaint})`;
  if (end.kind === 'signalled') {
    throw new AppError('INSTANCE_FAILED', `${verb}: the program was ended by ${end.signal}${because}`);
  }
  if (end.kind === 'stopped') {
    if (end.why === 'caller') throw new AppError('RPC_CANCELLED', `${verb}: the caller gave up`);
    if (end.why === 'output') {
      throw badAnswer(verb, `it printed more than ${limits.maxOutputBytes} bytes on stdout (MaxOutputBytes)`);
    }
    throw new AppError('RPC_TIMEOUT', `${verb}: the program did not end within ${limits.deadlineMs} ms${because}`);
  }
  const code = exitCodes[end.code];
  if (end.code !== 0 && code !== undefined && end.stdout.length === 0) {
    throw new AppError(code, complaint ?? `${verb}: the program ended with exit code ${end.code}`);
  }
  const text = end.code === 0 ? textOf(verb, end.stdout) : end.stdout.toString('utf8').trim();
  const json = jsonOf(text);
  if (isRecord(json) && json.error !== undefined) throw saidError(verb, json.error);
  if (end.code !== 0) {
    const sentence = complaint ?? `${verb}: the program ended with exit code ${end.code}`;
    throw new AppError(code ?? 'INSTANCE_FAILED', sentence, { facts: { exitCode: end.code } });
  }
  if (text === '') return {};
  if (!isRecord(json)) {
    throw badAnswer(
      verb,
      `stdout must be one JSON object and nothing else, not ${shown(text)}; notes belong on stderr`,
    );
  }
  return json;
};
