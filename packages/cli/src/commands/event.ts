import { suggest } from '@infrakit/core';
import type { CommandContext, RunCommand } from '../command-context.ts';
import { commandLine, runCommandLine } from '../command-line.ts';
import { exits, usageError } from '../exit.ts';
import { addFollowOptions, type FollowOptions, followEvents, tellUnknown } from '../follow-events.ts';
import { addTopicOptions, type TopicOptions, topicLines, topicOf } from '../list-topics.ts';
import { type BusObject, findObject, objectsOf } from '../objects.ts';
import { type Session, withSession } from '../session.ts';

const words = ['ls', 'tail'];

const usage = [
  'Usage: infrakit event ls|tail [<plugin>[/<topic>] …]',
  '',
  'ls lists the plugins that have events, or the topics below those given; tail follows events.',
  '`infrakit event ls -h` and `infrakit event tail -h` tell their options.',
  '',
].join('\n');

/** Splits what begins with the name of a plugin; a plugin alone is all of its topics. */
const splitTopic = (text: string): { readonly plugin: string; readonly topic: string } => {
  if (text.startsWith('/')) throw usageError('No absolute path');
  const slash = text.indexOf('/');
  const [plugin, topic] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  if (plugin === '' || /[+#]/.test(plugin)) throw usageError(`a topic begins with the name of a plugin, not ${text}`);
  return { plugin, topic: topic === '' ? '.' : topic };
};

const seenObjects = async (session: Session): Promise<BusObject[]> => {
  await session.seen();
  return objectsOf(session.registry);
};

/** The plugins themselves, each once; plugins that have nothing but objects count too, for objects may publish. */
const pluginsOf = (objects: readonly BusObject[]): BusObject[] => {
  const roots = new Map(objects.filter(({ object }) => object === '').map((object) => [object.plugin, object]));
  const rest = objects.filter(({ plugin }) => !roots.has(plugin));
  return [...roots.values(), ...rest.map((object) => ({ ...object, name: object.plugin }))];
};

const publishersOf = (objects: readonly BusObject[]): string[] =>
  objects.filter(({ object, interfaces }) => object === '' && interfaces.has('Event')).map(({ name }) => name);

const runList: RunCommand = (given, context) => {
  const { streams } = context;
  const command = addTopicOptions(
    commandLine(
      'infrakit event ls',
      { summary: 'list the plugins that have events, or topics', example: 'infrakit event ls -a time/timer' },
      streams,
    ),
  ).argument('[topics...]', 'each begins with the name of a plugin');
  return runCommandLine(command, given, () =>
    withSession(context, async (session) => {
      const wanted = command.args.map(splitTopic);
      const options = command.opts<TopicOptions>();
      const objects = await seenObjects(session);
      const print = (lines: readonly string[]): void => lines.forEach((line) => void streams.stdout.write(`${line}\n`));
      if (wanted.length === 0 && options.all !== true) print(publishersOf(objects));
      else if (wanted.length === 0) {
        for (const plugin of publishersOf(objects)) {
          const leaves = await topicLines(session, { object: plugin, topic: '' }, { all: true, quiet: true });
          print(leaves.map((leaf) => `${plugin}/${leaf}`));
        }
      }
      for (const { plugin, topic } of wanted) {
        const { name } = findObject(pluginsOf(objects), plugin);
        print(await topicLines(session, { object: name, topic: topicOf(topic) }, options));
      }
      return exits.done;
    }),
  );
};

const runTail: RunCommand = (given, context) => {
  const { streams, signal } = context;
  const command = addFollowOptions(
    commandLine(
      'infrakit event tail',
      { summary: 'follow events of plugins', example: 'infrakit event tail group/cattle/member/#' },
      streams,
    ),
  ).argument(
    '[topics...]',
    'each begins with the name of a plugin: MQTT filters, or the old forms; all events without any',
  );
  return runCommandLine(command, given, () =>
    withSession(context, async (session) => {
      const wanted = command.args.map(splitTopic);
      const objects = await seenObjects(session);
      const note = (sentence: string): void => void streams.stderr.write(`${sentence}\n`);
      const print = (lines: readonly string[]): void => lines.forEach((line) => void streams.stdout.write(`${line}\n`));
      for (const { plugin, topic } of wanted) {
        const { name, interfaces, object } = findObject(pluginsOf(objects), plugin);
        if (object === '' && interfaces.has('Event')) await tellUnknown(name, [topic], { session, note });
      }
      const all = publishersOf(objects).map((plugin) => ({ plugin, topic: '.' }));
      return followEvents(wanted.length === 0 ? all : wanted, command.opts<FollowOptions>(), {
        session,
        signal,
        note,
        print,
        prefixOf: (plugin) => `${plugin}/`,
      });
    }),
  );
};

/** `infrakit event ls|tail [topic…]`: topics of all plugins, each beginning with the plugin's name (GP §3.5). */
const runEvent: RunCommand = async ([word, ...rest], context: CommandContext) => {
  if (word === '-h' || word === '--help') {
    context.streams.stdout.write(usage);
    return exits.done;
  }
  if (word === 'ls') return runList(rest, context);
  if (word === 'tail') return runTail(rest, context);
  if (word === undefined) throw usageError(`event takes ${words.join(' or ')}`);
  const near = suggest(word, words);
  throw usageError(
    `event takes ${words.join(' or ')}, not ${word}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
};

export default runEvent;
