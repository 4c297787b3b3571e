import { suggest } from '@infrakit/core';
import type { CommandContext, RunCommand } from '../command-context.ts';
import { commandLine, runCommandLine } from '../command-line.ts';
import { exits, usageError } from '../exit.ts';

interface SubCommand {
  readonly name: string;
  readonly summary: string;
  readonly example: string;
  readonly define: (command: ReturnType<typeof commandLine>) => unknown;
  readonly run: (args: readonly string[], options: PluginOptions, context: CommandContext) => Promise<number>;
}

interface PluginOptions {
  readonly all?: boolean;
  readonly quiet?: boolean;
  readonly output?: string | true;
  readonly options?: string;
}

const subCommands: readonly SubCommand[] = [
  {
    name: 'start',
    summary: 'start plugins in this process, until Ctrl-C; without any, list the kinds there are',
    example: 'infrakit plugin start manager:mystack group vanilla simulator enrollment:nfs',
    define: (command) =>
      command
        .argument('[plugins...]', 'kind, kind:name or npm:<package>[:name], such as manager:mystack')
        .option('--options <file>', 'start options by plugin name, YAML or JSON'),
    run: async (plugins, { options }, context) => {
      const { readStartOptions, startPlugins } = await import('../plugin-start.ts');
      return startPlugins(plugins, context, options === undefined ? {} : await readStartOptions(options, context));
    },
  },
  {
    name: 'stop',
    summary: 'stop plugins by name; a process ends with its last one',
    example: 'infrakit plugin stop time',
    define: (command) =>
      command
        .argument('[names...]')
        .option('--all', 'stop every process on the bus')
        .option('--yes', 'accepted for scripts; nothing prompts'),
    run: async (names, { all = false }, context) => {
      if (all === names.length > 0) throw usageError('plugin stop takes either names or --all');
      const { stopAll, stopPlugins } = await import('../plugin-stop.ts');
      return all ? stopAll(context) : stopPlugins(names, context);
    },
  },
  {
    name: 'ls',
    summary: 'list plugins, their objects and interfaces',
    example: 'infrakit plugin ls -o wide',
    define: (command) =>
      command.option('-q, --quiet', 'no heading').option('-o, --output [format]', 'table, wide, json or yaml'),
    run: async (_, options, context) => (await import('../plugin-list.ts')).listPlugins(options, context),
  },
];

const check = { name: 'check', summary: 'check a program of yours against the contract of instance plugins' };

const usage = (): string =>
  [
    'Usage: infrakit plugin start|stop|ls|check …',
    '',
    ...[...subCommands, check].map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`),
    '',
    '`infrakit plugin <word> -h` tells about one of them.',
    '',
  ].join('\n');

/** `infrakit plugin start|stop|ls|check` (GP §4.4). */
const runPlugin: RunCommand = async ([word, ...rest], context) => {
  const { streams } = context;
  if (word === '-h' || word === '--help') {
    streams.stdout.write(usage());
    return exits.done;
  }
  if (word === check.name) return (await import('../plugin-check.ts')).runCheck(rest, context);
  const names = [...subCommands, check].map(({ name }) => name);
  if (word === undefined) throw usageError(`plugin takes ${names.join(', ')}`);
  const found = subCommands.find(({ name }) => name === word);
  if (found === undefined) {
    const near = suggest(word, names);
    throw usageError(
      `plugin takes ${names.join(', ')}, not ${word}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const command = commandLine(`infrakit plugin ${word}`, found, streams);
  found.define(command);
  return runCommandLine(command, rest, () => found.run(command.args, command.opts(), context));
};

export default runPlugin;
