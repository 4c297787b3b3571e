import { coerce } from './coerce.ts';
import { BudgetExceeded, FunctionFailure, Suspended, TemplateError } from './errors.ts';
import { type Eval, type EvalCommand, MISSING } from './expression.ts';
import type { Node } from './nodes.ts';
import { fail, type Run } from './run.ts';
import { isTrue } from './value/types.ts';
import type { GoFunction, ParamType } from './value/value.ts';

/** A call as it is written. */
export interface CallSite {
  readonly name: string;
  readonly spec: GoFunction;
  readonly isMethod?: boolean;
  /** Where a wrong number of arguments is reported; undefined for where evaluation stands. */
  readonly at: Node | undefined;
  /** Where an error of the function is reported. */
  readonly errorAt: Node;
}

/** Errors of a function become errors of the template; what is no one's fault but the limits' passes through. */
const callFailed = (run: Run, site: CallSite, error: unknown): never => {
  if (error instanceof BudgetExceeded || error instanceof Suspended) {
    throw error;
  }
  if (error instanceof RangeError) {
    throw new BudgetExceeded(`${site.name} needs more memory or nesting than there is`);
  }
  run.node = site.errorAt;
  const inner = error instanceof FunctionFailure && error.cause instanceof TemplateError ? error.cause : undefined;
  const reason = error instanceof Error ? error.message : String(error);
  return fail(run, `error calling ${site.name}: ${reason}`, inner?.offendingName ?? site.name, error);
};

/** The sentence about a wrong number of arguments, or undefined where the number fits. */
const countProblem = (site: CallSite, written: number, given: number): string | undefined => {
  const { params, rest } = site.spec;
  if (rest === undefined && given !== params.length) {
    return `wrong number of args for ${site.name}: want ${params.length} got ${given}`;
  }
  return rest !== undefined && given < params.length
    ? `wrong number of args for ${site.name}: want at least ${params.length} got ${written}`
    : undefined;
};

/** The type of the parameter that takes argument `i`. */
export const paramAt = (spec: GoFunction, i: number): ParamType => spec.params[i] ?? spec.rest ?? 'any';

/** `and` and `or`: arguments are evaluated until one decides; the last one evaluated is the result. */
const compileLazy = (site: CallSite, args: readonly Eval[]): EvalCommand => {
  const decides = site.name === 'or';
  return (run, dot, final) => {
    let value: unknown;
    for (const arg of args) {
      value = arg(run, dot);
      if (isTrue(value) === decides) {
        return value;
      }
    }
    return final === MISSING ? value : final;
  };
};

/** Texts that go into a function and come out of it are paid for, so no function need count those. */
const counted = (run: Run, value: unknown): unknown => {
  if (typeof value === 'string') {
    run.budget.characters(value.length);
  }
  return value;
};

const compileEager = (site: CallSite, args: readonly Eval[]): EvalCommand => {
  const { spec, isMethod = false } = site;
  const count = args.length;
  const finalType = paramAt(spec, count);
  return (run, dot, final, self) => {
    const values: unknown[] = isMethod ? [self] : [];
    for (const arg of args) {
      values.push(counted(run, arg(run, dot)));
    }
    if (final !== MISSING) {
      values.push(counted(run, coerce(run, final, finalType)));
    }
    try {
      return counted(run, spec.call(run, values));
    } catch (error) {
      return callFailed(run, site, error);
    }
  };
};

/** A call made ready: counts, evaluates and checks the arguments, then calls. */
export const compileCall = (site: CallSite, args: readonly Eval[]): EvalCommand => {
  const body = site.spec.isLazy === true ? compileLazy(site, args) : compileEager(site, args);
  const problem = countProblem(site, args.length, args.length);
  const problemWithFinal = countProblem(site, args.length, args.length + 1);
  const { at } = site;
  return (run, dot, final, self) => {
    if (at !== undefined) {
      run.node = at;
    }
    const wrong = final === MISSING ? problem : problemWithFinal;
    if (wrong !== undefined) {
      fail(run, wrong, site.name);
    }
    return body(run, dot, final, self);
  };
};
