import type { Command } from 'commander';
import { usageError } from './exit.ts';

/** The template flags of a command that reads specs (GP §5.1). */
export interface TemplateFlags {
  readonly var: readonly string[];
  readonly final?: boolean;
  readonly dump?: boolean;
  readonly yaml?: boolean;
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** Adds the template flags. A value of `--var` is text as it stands: commas and zeros are kept (GP-C20). */
export const addTemplateOptions = (command: Command): Command =>
  command
    .option('--var <name=value>', 'set a template variable; may be repeated', collect, [])
    .option('-f, --final', 'render unset variables as nothing, instead of leaving them for a later pass')
    .option('-x, --dump', 'print the rendered text and its JSON form, and do nothing')
    .option('-y, --yaml', 'the input is YAML (JSON is read either way)');

/** The variables that `--var` sets. */
export const variablesOf = ({ var: given }: TemplateFlags): Readonly<Record<string, string>> =>
  Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1) throw usageError(`--var takes name=value, not ${JSON.stringify(text)}`);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
