import { DEFAULT_LIMITS, type Limits } from './budget.ts';
import { customFunctions, type TemplateFunction } from './custom-functions.ts';
import { TemplateError } from './errors.ts';
import { compileList } from './execute.ts';
import { FUNCTIONS, NOT_DETERMINISTIC } from './function-table.ts';
import type { ListNode, Source } from './nodes.ts';
import { type ParseContext, parse } from './parser.ts';
import type { Exec, MissingKey, Program } from './run.ts';
import type { FunctionTable } from './signature.ts';
import { didYouMean } from './suggest.ts';

/** What a template set is compiled with. */
export interface ProgramOptions {
  /** What messages call the template; default `template`. */
  readonly name?: string | undefined;
  /** Where the template stands: relative addresses of `include` are resolved against it. A URL or a path; default ``. */
  readonly url?: string | undefined;
  /** What a missing map key or variable is; default `error`. */
  readonly missingKey?: MissingKey | undefined;
  /** Whether `var` of an unset variable yields itself, for a later pass. */
  readonly multiPass?: boolean | undefined;
  /** Whether functions are refused whose results change or that read what lies outside, as key selectors need it. */
  readonly deterministic?: boolean | undefined;
  /** Further functions by name; they hide those of the language. */
  readonly functions?: Readonly<Record<string, TemplateFunction>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** Functions after which the data may not be what it was. */
const EFFECTS: ReadonlySet<string> = new Set(['set', 'unset', 'include', 'source']);

/** Included templates that are kept compiled. */
const MAX_NESTED = 100;

/** Compiles the texts of one template set, which share definitions, variables and functions. */
export interface Compiler {
  /** One more text of the set. Throws a TemplateError of kind `parse`. */
  add(source: Source): Exec;
  /** The set, once all texts are added. */
  finish(source: Source, main: Exec): Program;
}

const functionsOf = (options: ProgramOptions): FunctionTable =>
  options.functions === undefined ? FUNCTIONS : { ...FUNCTIONS, ...customFunctions(options.functions) };

const refusalOf = (options: ProgramOptions, functions: FunctionTable, name: string): string | undefined => {
  if (!Object.hasOwn(functions, name)) {
    return `function "${name}" not defined${didYouMean(name, Object.keys(functions))}`;
  }
  const isOwn = options.functions !== undefined && Object.hasOwn(options.functions, name);
  const reason = options.deterministic === true && !isOwn ? NOT_DETERMINISTIC.get(name) : undefined;
  return reason === undefined ? undefined : `function "${name}" is not allowed in a key selector: ${reason}`;
};

/** The depths of parser and evaluator are bounded; should a caller's own stack be nearly full, that is an error too. */
const withinStack = <T>(source: Source, compile: () => T): T => {
  try {
    return compile();
  } catch (error) {
    if (error instanceof RangeError) {
      const reason = 'the template is nested too deeply';
      throw new TemplateError({ kind: 'parse', templateName: source.name, line: 1, column: 0, reason, cause: error });
    }
    throw error;
  }
};

export const makeCompiler = (options: ProgramOptions): Compiler => {
  const functions = functionsOf(options);
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const bodies = new Map<string, ListNode>();
  let hasEffects = false;
  const context: ParseContext = {
    templates: bodies,
    variables: ['$'],
    maxNesting: limits.nesting,
    refusal(name) {
      hasEffects ||= EFFECTS.has(name);
      return refusalOf(options, functions, name);
    },
  };
  const ready = new Map<ListNode, Exec>();
  const prepare = (list: ListNode): Exec => {
    const exec = ready.get(list) ?? compileList({ functions }, list);
    ready.set(list, exec);
    return exec;
  };
  const nestedPrograms = new Map<string, Program>();
  return {
    add: (source) => withinStack(source, () => prepare(parse(source, context))),
    finish(source, main) {
      return {
        source,
        main,
        limits,
        hasEffects,
        url: options.url ?? '',
        missingKey: options.missingKey ?? 'error',
        isMultiPass: options.multiPass ?? false,
        templates: withinStack(
          source,
          () => new Map([...bodies].map(([name, list]) => [name, prepare(list)] as const)),
        ),
        nested(name, text, url) {
          const key = `${url} ${text}`;
          const program = nestedPrograms.get(key) ?? compileProgram(text, { ...options, name, url });
          if (nestedPrograms.size >= MAX_NESTED) {
            nestedPrograms.clear();
          }
          nestedPrograms.set(key, program);
          return program;
        },
      };
    },
  };
};

/** Compiles one text. Throws a TemplateError of kind `parse`. */
export const compileProgram = (text: string, options: ProgramOptions): Program => {
  const compiler = makeCompiler(options);
  const source: Source = { name: options.name ?? 'template', text };
  return compiler.finish(source, compiler.add(source));
};
