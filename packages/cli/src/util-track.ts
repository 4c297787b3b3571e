import type { RunCommand } from './command-context.ts';
import { commandLine, runCommandLine } from './command-line.ts';
import { usageError } from './exit.ts';
import { startPlugins } from './plugin-start.ts';
import { tagWords } from './tag-words.ts';

interface TrackFlags {
  readonly name: string;
  readonly plugin?: readonly string[];
  readonly interval?: string;
  readonly tag?: readonly string[];
}

/** `infrakit util track`: the instance tracker in the foreground, on the broker of the stack (GP §3.4). */
export const runTrack: RunCommand = (words, context) => {
  const command = commandLine(
    'infrakit util track',
    {
      summary: 'instances that come and go, as events',
      example: 'infrakit util track -n simulator/compute -i 1s -t tier=meadow',
    },
    context.streams,
  )
    .option('--name <name>', 'lookup name, which the topics are under', 'tracker')
    .option('-n, --plugin <plugin...>', 'an instance plugin to track, such as simulator/compute')
    .option('-i, --interval <duration>', 'how often it is looked at (3s)')
    .option('-t, --tag <key=value...>', 'only instances with this tag');
  return runCommandLine(command, words, () => {
    const { name, plugin = [], interval, tag = [] } = command.opts<TrackFlags>();
    if (plugin.length === 0) throw usageError('util track takes at least one -n <plugin>');
    const options = {
      Plugins: plugin,
      Tags: tagWords(tag, '-t'),
      ...(interval === undefined ? {} : { Interval: interval }),
    };
    return startPlugins([`tracker:${name}`], context, { [name]: options });
  });
};
