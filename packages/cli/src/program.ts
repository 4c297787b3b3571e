import { suggest } from '@infrakit/core';
import { readGlobalFlags } from './arguments.ts';
import type { CommandContext, RunCommand } from './command-context.ts';
import { exitOf, exits, usageError } from './exit.ts';
import { commandLog } from './log.ts';
import { version } from './version.ts';

interface CommandEntry {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly default: RunCommand }>;
}

const commands: readonly CommandEntry[] = [
  {
    name: 'event',
    usage: 'event ls|tail [<topic> …]',
    summary: 'list topics, or follow events',
    load: () => import('./commands/event.ts'),
  },
  {
    name: 'local',
    usage: 'local [<object> [<verb> …]]',
    summary: 'list the objects on the bus, or act on one',
    load: () => import('./commands/local.ts'),
  },
  {
    name: 'plugin',
    usage: 'plugin start|stop|ls …',
    summary: 'start plugins in this process, stop or list them',
    load: () => import('./commands/plugin.ts'),
  },
  {
    name: 'template',
    usage: 'template <file|->',
    summary: 'render a spec file; `template format json|yaml` converts',
    load: () => import('./commands/template.ts'),
  },
  {
    name: 'util',
    usage: 'util event-repeater|track …',
    summary: 'programs that run by themselves',
    load: () => import('./commands/util.ts'),
  },
  {
    name: 'version',
    usage: 'version',
    summary: 'print version and revision',
    load: () => import('./commands/version.ts'),
  },
];

const help = (): string =>
  [
    'Usage: infrakit <command> …',
    '',
    'An event-driven infrastructure control plane on an MQTT bus.',
    '',
    'Commands:',
    ...commands.map(({ usage, summary }) => `  ${usage.padEnd(28)} ${summary}`),
    `  ${'help [<command>]'.padEnd(28)} print help`,
    '',
    'Options, wherever they stand:',
    `  ${'--log <0-5>'.padEnd(28)} how much is logged on stderr`,
    `  ${'-V, --version'.padEnd(28)} print the version`,
    `  ${'-h, --help'.padEnd(28)} print help`,
    '',
  ].join('\n');

const unknownCommand = (word: string): Error => {
  if (word.startsWith('-')) return usageError(`unknown option '${word}'; \`infrakit --help\` lists what there is`);
  const near = suggest(
    word,
    commands.map(({ name }) => name),
  );
  const hint = near === undefined ? '`infrakit --help` lists the commands' : `did you mean ${near}?`;
  return usageError(`unknown command ${word}; ${hint}`);
};

const dispatch: RunCommand = async (words, context) => {
  const { stdout, stderr } = context.streams;
  const [word, ...rest] = words;
  if (word === undefined) {
    stderr.write(help());
    return exits.usage;
  }
  if (word === '-V' || word === '--version') {
    stdout.write(`infrakit ${version()}\n`);
    return exits.done;
  }
  const isHelp = word === '-h' || word === '--help' || word === 'help';
  if (isHelp && rest[0] !== undefined) return dispatch([rest[0], '--help'], context);
  if (isHelp) {
    stdout.write(help());
    return exits.done;
  }
  const entry = commands.find(({ name }) => name === word);
  if (entry === undefined) throw unknownCommand(word);
  return (await entry.load()).default(rest, context);
};

/** Runs one command line and gives its exit code (DESIGN §6); a failure is one sentence on stderr (GP-C5). */
export const runProgram = async (
  args: readonly string[],
  surroundings: Omit<CommandContext, 'log' | 'logLevel'>,
): Promise<number> => {
  const { stderr } = surroundings.streams;
  try {
    const { flags, words } = readGlobalFlags(args);
    const log = commandLog(flags.log ?? 0, stderr);
    return await dispatch(words, { ...surroundings, log, logLevel: flags.log });
  } catch (thrown) {
    const { code, sentence } = exitOf(thrown);
    stderr.write(`infrakit: ${sentence}\n`);
    return code;
  }
};
