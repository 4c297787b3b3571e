import type { Log } from '@infrakit/spi';

/** What a level of `--log` shows (GP §5.1): 4 is `info` and above, 0 nothing. */
const shown = { debug: 5, info: 4, warn: 3, error: 1 } as const;

/** The log of a command: one line each, on stderr. */
export const commandLog = (level: number, stderr: { write(text: string): unknown }): Log => {
  const write =
    (name: keyof typeof shown): Log['info'] =>
    (facts, message) => {
      if (level < shown[name]) return;
      const told = Object.entries(facts).map(([key, value]) => ` ${key}=${text(value)}`);
      stderr.write(`${name} ${message}${told.join('')}\n`);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
};

const text = (value: unknown): string => JSON.stringify(value instanceof Error ? value.message : value) ?? 'undefined';

/** The level of a host's log that stands for one of `--log`. */
export const hostLogLevel = (level: number): string =>
  level >= shown.debug ? 'debug' : level >= shown.info ? 'info' : level >= shown.warn ? 'warn' : 'error';
