import type { Command } from 'commander';
import type { CommandContext } from './command-context.ts';
import { usageError } from './exit.ts';
import type { BusObject } from './objects.ts';
import { scopeOf } from './objects.ts';
import type { Session } from './session.ts';

/** One call of a verb of an object. */
export interface VerbCall<Options> extends CommandContext {
  readonly object: BusObject;
  readonly session: Session;
  readonly args: readonly string[];
  readonly options: Options;
  /** Writes lines to stdout. */
  readonly print: (lines: readonly string[]) => void;
  /** Writes a sentence to stderr. */
  readonly note: (sentence: string) => void;
}

/** A verb: its grammar and what it does. The result is the exit code. */
export interface Verb<Options> {
  /** Arguments as commander writes them, and options. */
  readonly define: (command: Command, object: BusObject) => void;
  readonly run: (call: VerbCall<Options>) => Promise<number>;
}

/** A verb whose options are checked here, and are the loader's business no more. */
export const verb = <Options>(definition: Verb<Options>): Verb<never> => definition as unknown as Verb<never>;

/** The name that a verb is about: the object's own scope, or the first argument (GP-C8, GP-C13). */
export const nameAndRest = (
  { object, args }: Pick<VerbCall<unknown>, 'object' | 'args'>,
  what: string,
): { readonly name: string; readonly rest: readonly string[] } => {
  const scope = scopeOf(object);
  if (scope !== null) return { name: scope, rest: args };
  const [name, ...rest] = args;
  if (name === undefined) throw usageError(`${object.name} is about all ${what}s: say which ${what}`);
  return { name, rest };
};

/** The name of a verb that takes nothing else: a word too many is refused, lest it was meant as another name (GP-C13). */
export const onlyName = (call: Pick<VerbCall<unknown>, 'object' | 'args'>, what: string): string => {
  const { name, rest } = nameAndRest(call, what);
  const extra = rest.find((word) => word !== name);
  if (extra !== undefined) throw usageError(`${call.object.name} is about ${name} alone, not ${JSON.stringify(extra)}`);
  return name;
};
