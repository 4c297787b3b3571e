import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect, parseArgs } from 'node:util';

/** Wrong usage of a command line. */
const wrongUsage = 64;

/** An option that takes a whole number, its value when it is not given, and the least one allowed. */
export interface NumberOption {
  readonly byDefault: number;
  readonly least: number;
}

/** A command that runs the modules of its own folder, by name. */
export interface ModuleCommand<M, O extends string> {
  readonly folder: URL;
  /** Text of `-h`; the list of names follows. */
  readonly help: string;
  readonly options: Readonly<Record<O, NumberOption>>;
  readonly load: (name: string) => Promise<M>;
  /** Runs one module; the facts that it gives are printed. */
  readonly run: (module: M, options: Readonly<Record<O, number>>) => Promise<Readonly<Record<string, unknown>>>;
  /** Printed before the results, with the options. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Where a command writes, a line at a time. */
export interface Lines {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

interface Request<O extends string> {
  readonly isHelp: boolean;
  readonly names: readonly string[];
  readonly options: Readonly<Record<O, number>>;
}

/** The modules of a folder: `plan` for `plan.ts`; `main.ts` and tests aside. */
const moduleNames = (folder: URL): string[] =>
  readdirSync(fileURLToPath(folder))
    .filter((file) => /^[\w-]+\.ts$/.test(file) && file !== 'main.ts')
    .map((file) => file.slice(0, -'.ts'.length))
    .sort();

const listOf = (names: readonly string[]): string => names.join(', ') || 'none yet';

const readNumber = (name: string, { byDefault, least }: NumberOption, text: unknown): number => {
  if (text === undefined) return byDefault;
  const isDigits = typeof text === 'string' && /^\d+$/.test(text);
  if (isDigits && Number(text) >= least && Number.isSafeInteger(Number(text))) return Number(text);
  throw new Error(`--${name} must be a whole number from ${least}, not ${text}`);
};

/** Reads a command line; throws a sentence on wrong usage. */
const readRequest = <O extends string>(
  options: Readonly<Record<O, NumberOption>>,
  known: readonly string[],
  args: readonly string[],
): Request<O> => {
  const names = Object.keys(options) as O[];
  const texts = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...texts, help: { type: 'boolean', short: 'h' } },
  });
  const given: Readonly<Record<string, unknown>> = values;
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}; there are: ${listOf(known)}`);
  const numbers = names.map((name) => [name, readNumber(name, options[name], given[name])]);
  return {
    isHelp: given.help === true,
    names: positionals.length > 0 ? positionals : known,
    options: Object.fromEntries(numbers) as Record<O, number>,
  };
};

/**
 * Runs the modules that `args` names, all of them by default, one after the other, and prints one JSON object
 * `{…facts, …options, results: {<name>: facts}, failures: {<name>: error}}`. Gives the exit code: 0, 1 after a failure, 64 for
 * wrong usage.
 */
export const runModules = async <M, O extends string>(
  command: ModuleCommand<M, O>,
  args: readonly string[],
  { out, err }: Lines,
): Promise<number> => {
  const known = moduleNames(command.folder);
  let request: Request<O>;
  try {
    request = readRequest(command.options, known, args);
  } catch (error) {
    err(error instanceof Error ? error.message : String(error));
    return wrongUsage;
  }
  if (request.isHelp) {
    out(`${command.help}\n\nNames: ${listOf(known)}`);
    return 0;
  }
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  for (const name of request.names) {
    err(`${name} …`);
    try {
      results[name] = await command.run(await command.load(name), request.options);
    } catch (error) {
      failures[name] = inspect(error);
      err(`${name} failed: ${failures[name]}`);
    }
  }
  const hasFailed = Object.keys(failures).length > 0;
  const report = { ...command.facts, ...request.options, results, ...(hasFailed ? { failures } : {}) };
  out(JSON.stringify(report, null, 2));
  return hasFailed ? 1 : 0;
};
