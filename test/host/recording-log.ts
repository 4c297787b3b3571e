import type { Log } from '@infrakit/spi';

/** One line of a log. */
export interface Logged {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export const recordingLog = (): { readonly log: Log; readonly lines: readonly Logged[] } => {
  const lines: Logged[] = [];
  const at = (level: Logged['level']) => (facts: Logged['facts'], message: string) =>
    void lines.push({ level, message, facts });
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
};
