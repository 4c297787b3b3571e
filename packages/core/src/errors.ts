/** Whether trying the same call again can help: at once, after a wait, or not at all. */
export type Retry = 'never' | 'later' | 'now';

/** What a code means for a caller: the retry class and the exit code of the command line (DESIGN §6). */
export interface ErrorClass {
  readonly retry: Retry;
  readonly exit: 1 | 2 | 3 | 64 | 69 | 127;
}

/** Every error code of the system, `AREA_WHAT`. Append only: a code never changes its meaning. */
export const errorTable = {
  NAME_INVALID: { retry: 'never', exit: 1 },
  DURATION_INVALID: { retry: 'never', exit: 1 },
  PATH_INVALID: { retry: 'never', exit: 1 },
  TAG_INVALID: { retry: 'never', exit: 1 },
  TOPIC_INVALID: { retry: 'never', exit: 1 },
  FILTER_INVALID: { retry: 'never', exit: 1 },
  SPEC_INVALID: { retry: 'never', exit: 1 },
  SPEC_UNREADABLE: { retry: 'never', exit: 1 },
  SPEC_TOO_LARGE: { retry: 'never', exit: 1 },
  SPEC_TEMPLATE: { retry: 'never', exit: 1 },
  ARGUMENT_INVALID: { retry: 'never', exit: 64 },
  PLUGIN_UNKNOWN: { retry: 'later', exit: 127 },
  PLUGIN_UNAVAILABLE: { retry: 'later', exit: 69 },
  OBJECT_UNKNOWN: { retry: 'later', exit: 127 },
  METHOD_UNKNOWN: { retry: 'never', exit: 64 },
  INTERFACE_VERSION: { retry: 'never', exit: 1 },
  PARAMS_INVALID: { retry: 'never', exit: 1 },
  RESULT_INVALID: { retry: 'never', exit: 1 },
  RPC_TIMEOUT: { retry: 'later', exit: 3 },
  RPC_CANCELLED: { retry: 'never', exit: 1 },
  RPC_EXPIRED: { retry: 'now', exit: 3 },
  INSTANCE_NOT_FOUND: { retry: 'never', exit: 1 },
  INSTANCE_INVALID: { retry: 'never', exit: 1 },
  INSTANCE_FAILED: { retry: 'later', exit: 1 },
  LABEL_REFUSED: { retry: 'never', exit: 1 },
  FLAVOR_INVALID: { retry: 'never', exit: 1 },
  GROUP_NOT_FOUND: { retry: 'never', exit: 1 },
  GROUP_INVALID: { retry: 'never', exit: 1 },
  MEMBER_UNKNOWN: { retry: 'never', exit: 1 },
  RULE_NOT_FOUND: { retry: 'never', exit: 1 },
  RULE_HELD: { retry: 'never', exit: 2 },
  PLAN_STALE: { retry: 'never', exit: 1 },
  REVISION_STALE: { retry: 'never', exit: 1 },
  COMMIT_PENDING: { retry: 'later', exit: 3 },
  ROUTE_INVALID: { retry: 'never', exit: 1 },
  ROUTE_CONFLICT: { retry: 'never', exit: 1 },
  ROUTE_NOT_FOUND: { retry: 'never', exit: 1 },
  METADATA_NOT_FOUND: { retry: 'never', exit: 1 },
  METADATA_CONFLICT: { retry: 'now', exit: 1 },
  STORE_UNAVAILABLE: { retry: 'later', exit: 69 },
  STORE_CONFLICT: { retry: 'now', exit: 1 },
  STORE_CORRUPT: { retry: 'never', exit: 1 },
  LEADER_NOT: { retry: 'later', exit: 69 },
  LEADER_LOST: { retry: 'later', exit: 69 },
  TERM_STALE: { retry: 'never', exit: 1 },
  SECRET_INLINE: { retry: 'never', exit: 1 },
  BUS_UNAVAILABLE: { retry: 'later', exit: 69 },
  BUS_REFUSED: { retry: 'never', exit: 69 },
  BUS_URL_INVALID: { retry: 'never', exit: 1 },
  PLUGIN_CLAIMED: { retry: 'never', exit: 1 },
  OBJECT_MANAGED: { retry: 'never', exit: 1 },
  PAYLOAD_TOO_LARGE: { retry: 'never', exit: 1 },
  BROKER_INVALID: { retry: 'never', exit: 1 },
  HOME_INVALID: { retry: 'never', exit: 1 },
  PLUGIN_KIND_UNKNOWN: { retry: 'never', exit: 1 },
  INTERNAL: { retry: 'never', exit: 1 },
} as const satisfies Record<string, ErrorClass>;

/** A code of {@link errorTable}. */
export type ErrorCode = keyof typeof errorTable;

/** Facts of an error: data, never part of a message that code matches on. */
export type ErrorFacts = Readonly<Record<string, unknown>>;

/** The one error type of the system: a code, one clear sentence, facts as data, and the cause. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, options: { facts?: ErrorFacts; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.facts = options.facts ?? {};
  }
}

/** Whether a value names a code of the table. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorTable, value);

/** The error of another copy of this package, as a plugin from elsewhere brings one along. */
const isForeignAppError = (thrown: unknown): thrown is Error & { code: ErrorCode; facts: ErrorFacts } =>
  thrown instanceof Error &&
  thrown.name === 'AppError' &&
  'code' in thrown &&
  isErrorCode(thrown.code) &&
  'facts' in thrown &&
  typeof thrown.facts === 'object' &&
  thrown.facts !== null;

/**
 * Any thrown value as an {@link AppError}: an AppError itself, that of another copy of this package as one of ours, anything
 * else `INTERNAL` with the value as its cause.
 */
export const toAppError = (thrown: unknown): AppError => {
  if (thrown instanceof AppError) return thrown;
  if (isForeignAppError(thrown)) {
    return new AppError(thrown.code, thrown.message, { facts: thrown.facts, cause: thrown.cause });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new AppError('INTERNAL', message, { cause: thrown });
};
