import { isDeepStrictEqual } from 'node:util';
import { type AppError, type ErrorCode, toAppError } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';
import type { After } from '../deadline.ts';

/** What a case calls the subject with: the context of a call, and a timer for what needs one. */
export interface ContractContext extends CallContext {
  readonly after: After;
}

/** One demand of a contract. `run` throws `ContractFailure` with a sentence that tells an implementation's author what to mend. */
export interface ContractCase<Subject> {
  readonly name: string;
  /** The rule it comes from: `Law 7`, `GP-S3`. */
  readonly cites: string;
  readonly run: (subject: Subject, ctx: ContractContext) => Promise<void>;
}

/** All demands on one interface. */
export interface ContractSuite<Subject> {
  readonly name: string;
  readonly cases: readonly ContractCase<Subject>[];
}

/** A demand that is not met. */
export class ContractFailure extends Error {
  override readonly name = 'ContractFailure';
}

/** A demand that this subject gives no means to check; reported with its reason, never as passed. */
export class ContractSkip extends Error {
  override readonly name = 'ContractSkip';
}

/** Fails the case with `sentence` unless the condition holds. */
export function demand(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new ContractFailure(sentence);
}

const asJson = (value: unknown): string => JSON.stringify(value) ?? 'absent';
const asSent = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Fails the case unless both are the same JSON value; the order of members does not matter, that of lists does. */
export const demandEqual = (actual: unknown, expected: unknown, what: string): void => {
  demand(
    isDeepStrictEqual(asSent(actual), asSent(expected)),
    `${what} must be ${asJson(expected)}, not ${asJson(actual)}`,
  );
};

/** Fails the case unless the promise rejects with one of the codes; gives the error. */
export const demandRejects = async (
  promise: Promise<unknown>,
  codes: readonly ErrorCode[],
  what: string,
): Promise<AppError> => {
  const outcome = await promise.then(
    (value) => ({ value }),
    (thrown: unknown) => ({ error: toAppError(thrown) }),
  );
  const wanted = codes.join(' or ');
  if (!('error' in outcome)) throw new ContractFailure(`${what} must be refused with ${wanted}; it succeeded`);
  const { error } = outcome;
  demand(codes.includes(error.code), `${what} must be refused with ${wanted}, not ${error.code}: ${error.message}`);
  return error;
};

/** Skips the case with `reason` unless the subject offers what it needs. */
export function skipUnless(condition: unknown, reason: string): asserts condition {
  if (!condition) throw new ContractSkip(reason);
}

/** What `eventually` waits between two looks, and how often it looks. */
const pauseMs = 50;
const looks = 60;

/**
 * Runs a check of what can be observed. Where the subject shows its writes only after a while, a failed check is repeated
 * every 50 ms, up to 3 s; else it must hold at once.
 */
export const eventually = async (
  ctx: ContractContext,
  isEventuallyConsistent: boolean,
  check: () => Promise<void>,
): Promise<void> => {
  for (let look = 1; ; look += 1) {
    try {
      await check();
      return;
    } catch (thrown) {
      if (!isEventuallyConsistent || look === looks || !(thrown instanceof ContractFailure)) throw thrown;
    }
    await new Promise<void>((resolve) => {
      ctx.after(pauseMs, resolve);
    });
  }
};
