import { BudgetExceeded, FunctionFailure, TemplateError } from '../errors.ts';
import { load } from '../load.ts';
import type { Run, Variables } from '../run.ts';
import { type FunctionTable, variadic } from '../signature.ts';

interface Options {
  readonly headers: Record<string, string[]>;
  /** The data for the included template; null for that of the whole template. */
  readonly data: unknown;
}

/** Arguments after the address: texts of the form `name=value` are headers, the last of the others is the data. */
const readOptions = (args: readonly unknown[]): Options => {
  const headers: Record<string, string[]> = {};
  let data: unknown = null;
  for (const arg of args) {
    const [, name, value = ''] = typeof arg === 'string' ? (/^([^=]+)=(.*)$/s.exec(arg) ?? []) : [];
    if (name === undefined) {
      data = arg;
    } else if (Object.hasOwn(headers, name)) {
      headers[name]?.push(value);
    } else {
      Object.defineProperty(headers, name, { value: [value], enumerable: true });
    }
  }
  return { headers, data };
};

const renderInner = (run: Run, inner: Run): string => {
  try {
    inner.program.main(inner, inner.root);
    return inner.output;
  } catch (error) {
    run.node = error instanceof BudgetExceeded ? inner.node : run.node;
    throw error;
  }
};

/** Renders another template in place; its own errors are told by the function that included it. */
const renderTemplate = (run: Run, via: 'include' | 'source', address: string, args: readonly unknown[]): string => {
  const { headers, data } = readOptions(args);
  if (run.depth >= run.limits.depth) {
    throw new BudgetExceeded(`templates include each other more than ${run.limits.depth} levels deep`);
  }
  const { text, url, isLiteral } = load(run, via, address, headers);
  const variables: Variables = {
    values: new Map(run.variables.values),
    parent: via === 'source' ? run.variables : undefined,
  };
  run.budget.step(1 + run.variables.values.size);
  try {
    const program = run.program.nested(isLiteral ? 'nested' : url, text, url);
    const root = data === null ? run.root : data;
    const output = renderInner(run, {
      ...run,
      program,
      variables,
      root,
      node: { kind: 'text', source: program.source, at: 0, text: '' },
      names: ['$'],
      values: [root],
      depth: run.depth + 1,
      output: '',
      segments: undefined,
    });
    run.budget.characters(output.length);
    return output;
  } catch (error) {
    if (error instanceof TemplateError) {
      throw new FunctionFailure(error.message, { cause: error });
    }
    throw error;
  }
};

/** InfraKit's functions that read other resources, through the host's loader. */
export const INCLUDE_FUNCTIONS: FunctionTable = {
  include: variadic(['string'], 'any', (run, address, ...args) => renderTemplate(run, 'include', address, args)),
  source: variadic(['string'], 'any', (run, address, ...args) => renderTemplate(run, 'source', address, args)),
  fetch: variadic(
    ['string'],
    'any',
    (run, address, ...args) => load(run, 'fetch', address, readOptions(args).headers).text,
  ),
  raw: variadic(
    ['string'],
    'any',
    (run, address, ...args) => load(run, 'raw', address, readOptions(args).headers).text,
  ),
};
