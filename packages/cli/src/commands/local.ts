import { suggest } from '@infrakit/core';
import type { CommandContext, RunCommand } from '../command-context.ts';
import { commandLine, runCommandLine } from '../command-line.ts';
import { exits, usageError } from '../exit.ts';
import { type BusObject, findObject, objectsOf } from '../objects.ts';
import { type Session, withSession } from '../session.ts';
import { tableLines } from '../table.ts';
import { exampleOf, findVerb, type VerbEntry, verbsOf } from '../verb-table.ts';

const isHelp = (word: string | undefined): boolean => word === '-h' || word === '--help' || word === 'help';

const usage = [
  'Usage: infrakit local [<object> [<verb> …]]',
  '',
  'Lists the objects on the bus. `infrakit local <object>` lists the verbs of one.',
  '',
].join('\n');

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

const runOn = async (
  name: string,
  words: readonly string[],
  context: CommandContext,
  session: Session,
): Promise<number> => {
  const { streams } = context;
  const [word, ...rest] = words;
  const objects = objectsOf(session.registry);
  const ofPlugin = objects.filter(({ plugin }) => plugin === name);
  if (ofPlugin.length > 0 && (word === undefined || isHelp(word)) && !ofPlugin.some(({ object }) => object === '')) {
    // The plugin has no verbs of its own; asking for it is no mistake (GP-C3).
    listObjects(ofPlugin, context);
    return exits.done;
  }
  const object = findObject(objects, name);
  const entries = verbsOf(object);
  if (word === undefined || isHelp(word)) {
    streams.stdout.write(helpOf(object, entries));
    return exits.done;
  }
  const entry = findVerb(entries, word);
  if (entry === undefined) throw unknownVerb(object, word, entries);
  const { default: found } = await entry.load();
  const command = commandLine(
    `infrakit local ${name} ${entry.name}`,
    { summary: entry.summary, example: exampleOf(object, entry) },
    streams,
  );
  found.define(command, object);
  return runCommandLine(command, rest, () =>
    found.run({
      ...context,
      object,
      session,
      args: command.args,
      options: command.opts() as never,
      print: (lines) => {
        if (lines.length > 0) streams.stdout.write(`${lines.join('\n')}\n`);
      },
      note: (sentence) => streams.stderr.write(`${sentence}\n`),
    }),
  );
};

/** `infrakit local [<object> [<verb> …]]` (GP §4.8). */
const runLocal: RunCommand = async (words, context) => {
  const [name, ...rest] = words;
  if (isHelp(name)) {
    context.streams.stdout.write(usage);
    return exits.done;
  }
  return withSession(context, async (session) => {
    await session.seen(name);
    if (name !== undefined) return runOn(name, rest, context, session);
    listObjects(objectsOf(session.registry), context);
    return exits.done;
  });
};

export default runLocal;
