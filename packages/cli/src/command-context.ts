import type { Log } from '@infrakit/spi';

/** Where a command line reads and writes. */
export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean | undefined };
  /** All of standard input. */
  readonly stdin: () => Promise<string>;
}

/** What a command runs in. */
export interface CommandContext {
  readonly streams: Streams;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** What `--log` says; undefined when it is not given. */
  readonly logLevel: number | undefined;
}

/** A command of the first word; it gets the words after it and gives the exit code. */
export type RunCommand = (words: readonly string[], context: CommandContext) => Promise<number>;
