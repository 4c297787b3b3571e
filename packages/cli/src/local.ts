import { suggest } from '@infrakit/core';
import { Command } from 'commander';
import { exits, usageError } from './exit.ts';
import { type BusObject, findObject, objectsOf } from './objects.ts';
import type { Session } from './session.ts';
import { tableLines } from './table.ts';
import type { CommandContext } from './verb.ts';
import { findVerb, type VerbEntry, verbsOf } from './verb-table.ts';

const isHelp = (word: string | undefined): boolean => word === '-h' || word === '--help' || word === 'help';

const listObjects = (objects: readonly BusObject[], { streams }: CommandContext): void => {
  const columns = [{ heading: 'OBJECT', width: 30 }, { heading: 'INTERFACES' }];
  const rows = objects.map(({ name, interfaces }) => [
    name,
    [...interfaces].map(([id, version]) => `${id}/${version}`).join(','),
  ]);
  for (const line of tableLines(columns, rows, false)) streams.stdout.write(`${line}\n`);
};

const helpOf = ({ name, interfaces }: BusObject, entries: readonly VerbEntry[]): string => {
  const lines = entries.map((entry) => `  ${entry.name.padEnd(18)} ${entry.summary}`);
  return [
    `Usage: infrakit local ${name} <verb>`,
    '',
    `${name} answers to ${[...interfaces.keys()].join(', ')}.`,
    '',
    'Verbs:',
    ...lines,
    '',
    '`infrakit local <object> <verb> -h` tells about one of them.',
    '',
  ].join('\n');
};

const unknownVerb = (object: BusObject, word: string, entries: readonly VerbEntry[]): Error => {
  const near = suggest(
    word,
    entries.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
  );
  const hint = near === undefined ? `\`infrakit local ${object.name} -h\` lists its verbs` : `did you mean ${near}?`;
  return usageError(`${object.name} has no verb ${word}; ${hint}`);
};

/** Runs `infrakit local [<object> [<verb> …]]` and gives the exit code. */
export const runLocal = async (
  words: readonly string[],
  context: CommandContext,
  session: Session,
): Promise<number> => {
  const [name, word, ...rest] = words;
  if (name === undefined || isHelp(name)) {
    if (isHelp(name)) context.streams.stdout.write('Usage: infrakit local <object> <verb>\n\nObjects:\n');
    listObjects(objectsOf(session.registry), context);
    return exits.done;
  }
  const object = findObject(session.registry, name);
  const entries = verbsOf(object);
  if (word === undefined || isHelp(word)) {
    context.streams.stdout.write(helpOf(object, entries));
    return exits.done;
  }
  const entry = findVerb(entries, word);
  if (entry === undefined) throw unknownVerb(object, word, entries);
  const { default: found } = await entry.load();
  const { stdout, stderr } = context.streams;
  const command = new Command(`infrakit local ${name} ${entry.name}`)
    .description(entry.summary)
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      outputError: (text, write) => write(`infrakit: ${text.replace(/^error: /, '')}`),
    });
  found.define(command, object);
  let exit: number = exits.done;
  command.action(async () => {
    exit = await found.run({
      ...context,
      object,
      session,
      args: command.args,
      options: command.opts() as never,
      print: (lines) => {
        if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`);
      },
      note: (sentence) => stderr.write(`${sentence}\n`),
    });
  });
  await command.parseAsync(rest, { from: 'user' });
  return exit;
};
