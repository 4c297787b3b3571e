import { usageError } from './exit.ts';

/** Flags that every command takes, wherever they stand (GP-C16). */
export interface GlobalFlags {
  /** Level of the log on stderr, 0 (nothing) to 5; undefined when not given. */
  readonly log: number | undefined;
}

/** A command line without its global flags. */
export interface CommandLine {
  readonly flags: GlobalFlags;
  readonly words: readonly string[];
}

/** Flags of the old program (GP §5.1) that change nothing here: scripts may still give them. */
const accepted: ReadonlyMap<string, 'alone' | 'with value'> = new Map([
  ['--log-format', 'with value'],
  ['--log-debug-V', 'with value'],
  ['--log-debug-match', 'with value'],
  ['--log-debug-match-exclude', 'alone'],
  ['--log-stdout', 'alone'],
  ['--log-caller', 'alone'],
  ['--log-stack', 'alone'],
]);

const levelOf = (text: string | undefined): number => {
  if (text !== undefined && /^[0-5]$/.test(text)) return Number(text);
  throw usageError(`--log takes a level from 0 to 5, not ${JSON.stringify(text ?? '')}`);
};

/** Takes the global flags out of the words of a command line; what stands behind `--` is left alone. */
export const readGlobalFlags = (args: readonly string[]): CommandLine => {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const words: string[] = [];
  let log: number | undefined;
  for (let at = 0; at < own.length; at += 1) {
    const word = own[at] ?? '';
    const equals = word.indexOf('=');
    const name = equals < 0 ? word : word.slice(0, equals);
    const takes = name === '--log' ? 'with value' : accepted.get(name);
    if (takes === undefined) {
      words.push(word);
      continue;
    }
    if (takes === 'alone') continue;
    if (equals < 0) at += 1;
    if (name === '--log') log = levelOf(equals < 0 ? own[at] : word.slice(equals + 1));
  }
  return { flags: { log }, words: end < 0 ? words : [...words, ...args.slice(end)] };
};
