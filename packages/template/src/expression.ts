import type { Run } from './run.ts';

/** An operand or pipeline made ready: gives its value for a given dot. */
export type Eval = (run: Run, dot: unknown) => unknown;

/**
 * A command made ready: `final` is the value of the command before it in the pipeline, or MISSING; `self` is the value that a
 * method belongs to.
 */
export type EvalCommand = (run: Run, dot: unknown, final: unknown, self?: unknown) => unknown;

/** No value comes from the pipeline. */
export const MISSING: unique symbol = Symbol('missing');
