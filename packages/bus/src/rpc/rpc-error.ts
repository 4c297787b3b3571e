import { AppError, type ErrorFacts, isErrorCode, type RpcFailure } from '@infrakit/core';

/** The one JSON-RPC code of ours; what happened is in `data.code`. */
const applicationError = -32_000;
/** How many causes travel. */
const maxDepth = 5;
const maxMessageLength = 4_000;
/** Facts of more than this as JSON stay behind. */
const maxFactsLength = 32_000;

interface WireCause {
  readonly message: string;
  readonly code?: string;
  readonly facts?: ErrorFacts;
  readonly cause?: WireCause;
}

const shortened = (text: string): string =>
  text.length <= maxMessageLength ? text : `${text.slice(0, maxMessageLength)}…`;

/** Facts as they can travel: as JSON, and not too large. */
const sendable = (facts: ErrorFacts): Record<string, unknown> => {
  try {
    const text = JSON.stringify(facts);
    return text.length <= maxFactsLength ? JSON.parse(text) : { omitted: `facts of ${text.length} characters` };
  } catch {
    return { omitted: 'facts that are no JSON' };
  }
};

const wireCause = (cause: unknown, depth: number): WireCause | undefined => {
  if (cause === undefined || depth > maxDepth) return undefined;
  if (!(cause instanceof Error)) return { message: shortened(String(cause)) };
  const below = wireCause(cause.cause, depth + 1);
  return {
    message: shortened(cause.message),
    ...(cause instanceof AppError ? { code: cause.code, facts: sendable(cause.facts) } : {}),
    ...(below === undefined ? {} : { cause: below }),
  };
};

/** An error as the answer to a call: code, sentence, facts and causes, each within bounds. Stacks stay here. */
export const encodeError = (id: RpcFailure['id'], error: AppError): RpcFailure => {
  const cause = wireCause(error.cause, 1);
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code: applicationError,
      message: shortened(error.message),
      data: { code: error.code, facts: sendable(error.facts), ...(cause === undefined ? {} : { cause }) },
    },
  };
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By hand and only so deep, for a sender may nest without end. */
const readCause = (value: unknown, depth: number): Error | undefined => {
  if (!isRecord(value) || typeof value.message !== 'string' || depth > maxDepth) return undefined;
  return makeError(
    value.message,
    value.code,
    isRecord(value.facts) ? value.facts : {},
    readCause(value.cause, depth + 1),
  );
};

const makeError = (message: string, code: unknown, facts: ErrorFacts, cause: Error | undefined): Error => {
  const options = cause === undefined ? {} : { cause };
  if (isErrorCode(code)) return new AppError(code, message, { ...options, facts });
  return new Error(message, options);
};

/** The error that an answer stands for; a code of a newer version than ours becomes `INTERNAL` with `facts.code`. */
export const decodeError = ({ error: { message, data } }: RpcFailure): AppError => {
  const cause = readCause(data.cause, 1);
  const options = cause === undefined ? {} : { cause };
  return isErrorCode(data.code)
    ? new AppError(data.code, message, { ...options, facts: data.facts })
    : new AppError('INTERNAL', message, { ...options, facts: { ...data.facts, code: data.code } });
};
