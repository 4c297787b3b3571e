import { suggest } from '@infrakit/core';
import type { RunCommand } from '../command-context.ts';
import { exits, usageError } from '../exit.ts';

interface Program {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<RunCommand>;
}

const programs: readonly Program[] = [
  {
    name: 'event-repeater',
    summary: 'mirror topics to another broker, by rules given over REST',
    load: async () => (await import('../util-event-repeater.ts')).runEventRepeaterCommand,
  },
  {
    name: 'track',
    summary: 'publish which instances come and go',
    load: async () => (await import('../util-track.ts')).runTrack,
  },
];

const usage = [
  'Usage: infrakit util <program> …',
  '',
  ...programs.map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`),
  '',
].join('\n');

/** `infrakit util <program> …`: programs that run by themselves (GP §3.4, §6.3). */
const runUtil: RunCommand = async ([word, ...rest], context) => {
  if (word === '-h' || word === '--help') {
    context.streams.stdout.write(usage);
    return exits.done;
  }
  const names = programs.map(({ name }) => name);
  if (word === undefined) throw usageError(`util takes ${names.join(' or ')}`);
  const found = programs.find(({ name }) => name === word);
  if (found !== undefined) return (await found.load())(rest, context);
  const near = suggest(word, names);
  throw usageError(
    `util takes ${names.join(' or ')}, not ${word}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
};

export default runUtil;
