/** Flags that every command takes, wherever they stand (GP-C16). */
export interface GlobalFlags {
  /** Level of the log on stderr: 0 (nothing) to 5. */
  readonly log: number;
}

/** A command line without its global flags. */
export interface CommandLine {
  readonly flags: GlobalFlags;
  readonly words: readonly string[];
}

const isNumber = (text: string | undefined): text is string => text !== undefined && /^[0-5]$/.test(text);

/** Takes the global flags out of the words of a command line; what stands behind `--` is left alone. */
export const readGlobalFlags = (args: readonly string[]): CommandLine => {
  const words: string[] = [];
  let log = 2;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--') return { flags: { log }, words: [...words, ...args.slice(at)] };
    const inline = /^--log=([0-5])$/.exec(word)?.[1];
    if (inline !== undefined) log = Number(inline);
    else if (word === '--log' && isNumber(args[at + 1])) {
      at += 1;
      log = Number(args[at]);
    } else words.push(word);
  }
  return { flags: { log }, words };
};
