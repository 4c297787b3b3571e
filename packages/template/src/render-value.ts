import { checkDepth } from './budget.ts';
import { BudgetExceeded, TemplateError } from './errors.ts';
import { unescapeBraces } from './escape.ts';
import type { Host } from './host.ts';
import { type Compiler, makeCompiler } from './program.ts';
import { type Exec, fail, type Program, type Run } from './run.ts';
import { guarded, startRun, untilSettled } from './session.ts';
import { type CompileOptions, hostOf, type RenderOptions } from './template.ts';
import { compareText, settle } from './text/bytes.ts';
import { isDict, isList, setKey } from './value/value.ts';

/** A JSON value whose texts are templates, compiled. */
export interface ValueTemplate {
  /** The value for some data. Throws a TemplateError of kind `exec` whose `templateName` is the path of the text. */
  render(data: unknown, options?: RenderOptions): unknown;
  /** As `render`, waiting for what the loader or a function promises. */
  renderAsync(data: unknown, options?: RenderOptions): Promise<unknown>;
}

type Leaf = (run: Run, dot: unknown) => unknown;

const place = (name: string, key: string | number): string =>
  `${name}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** A text: a template, or itself where nothing in it is to be rendered. */
const compileText = (compiler: Compiler, text: string, name: string): ((run: Run, dot: unknown) => string) => {
  const plain = unescapeBraces(text);
  if (!plain.includes('{{')) {
    return () => plain;
  }
  const exec: Exec = compiler.add({ name, text: plain });
  return (run, dot) => {
    run.output = '';
    exec(run, dot);
    run.budget.characters(run.output.length);
    return settle(run.output);
  };
};

const compileEntries = (
  compiler: Compiler,
  value: Readonly<Record<string, unknown>>,
  name: string,
  depth: number,
): Leaf => {
  const entries = Object.keys(value)
    .sort(compareText)
    .map((key) => ({
      key: compileText(compiler, key, `${place(name, key)}#`),
      value: compileLeaf(compiler, value[key], place(name, key), depth + 1),
    }));
  return (run, dot) => {
    const out: Record<string, unknown> = {};
    for (const entry of entries) {
      const key = entry.key(run, dot);
      if (Object.hasOwn(out, key)) {
        fail(run, `two keys render to "${key}"`, key);
      }
      setKey(out, key, entry.value(run, dot));
    }
    return out;
  };
};

const compileLeaf = (compiler: Compiler, value: unknown, name: string, depth: number): Leaf => {
  checkDepth(depth);
  if (typeof value === 'string') {
    return compileText(compiler, value, name);
  }
  if (isList(value)) {
    const items = value.map((item, i) => compileLeaf(compiler, item, place(name, i), depth + 1));
    return (run, dot) => items.map((item) => item(run, dot));
  }
  return isDict(value) ? compileEntries(compiler, value, name, depth) : () => value;
};

const compileRoot = (compiler: Compiler, value: unknown, name: string): Leaf => {
  try {
    return compileLeaf(compiler, value, name, 0);
  } catch (error) {
    if (error instanceof BudgetExceeded) {
      throw new TemplateError({ kind: 'parse', templateName: name, line: 1, column: 0, reason: error.message });
    }
    throw error;
  }
};

/**
 * Compiles a JSON value of which every text and every key is a template with escaped braces (EI §1.6 [WANT], EI-E16).
 *
 * Keys are taken in the order of their bytes, each before its value; variables, both `$x` and those of `var`, and definitions
 * of one text are known in the texts after it. What a text renders to is put in as a text, so quotes and backslashes are safe.
 * Two keys that render alike are an error. Errors name the text by its path, `name/key/0`, a key by its path and `#`.
 */
export const compileValue = (value: unknown, options: CompileOptions = {}): ValueTemplate => {
  const compiler = makeCompiler(options);
  const name = options.name ?? '';
  const root = compileRoot(compiler, value, name);
  const program: Program = compiler.finish({ name, text: '' }, () => 'next');
  const host = hostOf(options);
  const attempt = (data: unknown, renderOptions: RenderOptions, world: Host, mayWait: boolean): unknown => {
    const run = startRun(program, world, data, undefined);
    return guarded(run, mayWait, renderOptions, (dot) => root(run, dot));
  };
  return {
    render: (data, renderOptions = {}) => attempt(data, renderOptions, host, false),
    renderAsync: (data, renderOptions = {}) => untilSettled(host, (world) => attempt(data, renderOptions, world, true)),
  };
};

/** Compiles and renders a JSON value at once; see {@link compileValue}, which is better for one that is rendered often. */
export const renderValue = (value: unknown, data: unknown, options: CompileOptions & RenderOptions = {}): unknown =>
  compileValue(value, options).render(data, { vars: options.vars });
