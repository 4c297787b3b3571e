import { makeBudget } from './budget.ts';
import { BudgetExceeded, Suspended, TemplateError } from './errors.ts';
import type { Host, Outcome } from './host.ts';
import { fromPlain } from './plain.ts';
import { fail, type Program, type Run } from './run.ts';
import type { Segment } from './source-map.ts';

/** What one rendering starts from. */
export interface SessionOptions {
  /** Variables for `var`; bigints are whole numbers, numbers are floats as in JSON. */
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
}

/** The state of a rendering that is about to begin. */
export const startRun = (program: Program, host: Host, data: unknown, segments: Segment[] | undefined): Run => ({
  program,
  host,
  budget: makeBudget(program.limits),
  limits: program.limits,
  variables: { values: new Map(), parent: undefined },
  root: data === null ? undefined : data,
  node: { kind: 'text', source: program.source, at: 0, text: '' },
  names: ['$'],
  values: [],
  depth: 0,
  output: '',
  segments,
});

/** Fills in what may itself fail: variables, and a copy of the data where the template may change it. */
const prepare = (run: Run, options: SessionOptions): unknown => {
  for (const name in options.vars) {
    if (Object.hasOwn(options.vars, name)) {
      run.variables.values.set(name, fromPlain(options.vars[name], run.budget));
    }
  }
  const data = run.program.hasEffects && run.root !== undefined ? fromPlain(run.root, run.budget) : run.root;
  run.values = [data];
  return data;
};

/** Every way in which a rendering can fail, as a TemplateError at the node evaluated last. */
const asTemplateError = (run: Run, error: unknown): never => {
  if (error instanceof TemplateError) {
    throw error;
  }
  if (error instanceof Suspended) {
    error.pending.catch(() => undefined);
    return fail(run, `something must be read first: ${error.message}; render with renderAsync`, undefined, error);
  }
  if (error instanceof RangeError) {
    return fail(run, 'the template needs more memory or nesting than there is', undefined, error);
  }
  const reason = error instanceof BudgetExceeded || error instanceof Error ? error.message : String(error);
  return fail(run, reason, undefined, error);
};

/** Runs `body`; throws nothing but a TemplateError, or Suspended when `mayWait`. */
export const guarded = <T>(run: Run, mayWait: boolean, options: SessionOptions, body: (data: unknown) => T): T => {
  try {
    return body(prepare(run, options));
  } catch (error) {
    if (mayWait && error instanceof Suspended) {
      throw error;
    }
    return asTemplateError(run, error);
  }
};

/** Most things that one rendering may wait for. */
const MAX_WAITS = 1000;

const outcomeOf = async (pending: Promise<unknown>, waits: number): Promise<Outcome> => {
  try {
    const value = await pending;
    return waits < MAX_WAITS
      ? { value }
      : { error: new BudgetExceeded(`the template waits for more than ${MAX_WAITS} things`) };
  } catch (error) {
    return { error };
  }
};

/**
 * Runs `attempt` until it waits for nothing any more. Renderings have no effects, so each attempt starts anew, with what
 * earlier ones waited for at hand; what `echo` prints is passed on once.
 */
export const untilSettled = async <T>(host: Host, attempt: (host: Host) => T): Promise<T> => {
  const settled = new Map<string, Outcome>();
  for (let waits = 1; ; waits++) {
    const lines: string[] = [];
    try {
      const result = attempt({ ...host, settled, echo: (line) => lines.push(line) });
      for (const line of lines) {
        host.echo?.(line);
      }
      return result;
    } catch (error) {
      if (!(error instanceof Suspended)) {
        throw error;
      }
      settled.set(error.key, await outcomeOf(error.pending, waits));
    }
  }
};
