import { suggest } from '@infrakit/core';
import type { RunCommand } from './command-context.ts';
import { exits, usageError } from './exit.ts';

const usage = [
  'Usage: infrakit util event-repeater run|manage …',
  '',
  '  run              mirror topics of one source to one sink, by rules that `manage` and REST change',
  '  manage           list, add, change or remove the rules of one that runs',
  '',
].join('\n');

const words = ['run', 'manage'];

/** `infrakit util event-repeater run|manage` (GP §6.3). */
export const runEventRepeaterCommand: RunCommand = async ([word, ...rest], context) => {
  if (word === '-h' || word === '--help') {
    context.streams.stdout.write(usage);
    return exits.done;
  }
  if (word === 'run') return (await import('./event-repeater-run.ts')).default(rest, context);
  if (word === 'manage') return (await import('./event-repeater-manage.ts')).default(rest, context);
  if (word === undefined) throw usageError(`util event-repeater takes ${words.join(' or ')}`);
  const near = suggest(word, words);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  throw usageError(`util event-repeater takes ${words.join(' or ')}, not ${word}${hint}`);
};
