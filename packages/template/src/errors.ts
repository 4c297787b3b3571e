/**
 * What went wrong while a template was compiled (`parse`) or rendered (`exec`), and where.
 *
 * `line` counts from 1, `column` from 0 in bytes of the UTF-8 text, both in the text that was compiled, as Go counts
 * them. `offendingName` is the function, variable, field, key or template that the error is about, where there is one.
 */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  readonly kind: 'parse' | 'exec';
  readonly line: number;
  readonly column: number;
  readonly templateName: string;
  readonly offendingName: string | undefined;
  /** The sentence alone, without the position that `message` begins with. */
  readonly reason: string;

  constructor(facts: TemplateErrorFacts) {
    super(`${facts.templateName}:${facts.line}:${facts.column}: ${facts.reason}`, { cause: facts.cause });
    this.kind = facts.kind;
    this.line = facts.line;
    this.column = facts.column;
    this.templateName = facts.templateName;
    this.offendingName = facts.offendingName;
    this.reason = facts.reason;
  }
}

export interface TemplateErrorFacts {
  readonly kind: 'parse' | 'exec';
  readonly line: number;
  readonly column: number;
  readonly templateName: string;
  readonly offendingName?: string | undefined;
  readonly reason: string;
  readonly cause?: unknown;
}

/** A function of the language refuses its arguments; becomes an exec error that names the function. */
export class FunctionFailure extends Error {
  override readonly name = 'FunctionFailure';
}

/** A limit on steps, size or nesting is used up; becomes an exec error at the action being rendered. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/** Something must be read before the rendering can go on; `renderAsync` reads it and starts again. */
export class Suspended extends Error {
  override readonly name = 'Suspended';
  readonly key: string;
  readonly pending: Promise<unknown>;

  constructor(key: string, pending: Promise<unknown>) {
    super(`waits for ${key}`);
    this.key = key;
    this.pending = pending;
  }
}

/** Throws a {@link FunctionFailure}; for use in expressions. */
export const failCall = (reason: string): never => {
  throw new FunctionFailure(reason);
};
