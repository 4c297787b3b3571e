import type { Log } from '@infrakit/spi';

/** A log that adds facts to every line. */
export const scopedLog = (log: Log, facts: Readonly<Record<string, unknown>>): Log => ({
  debug: (more, message) => log.debug({ ...facts, ...more }, message),
  info: (more, message) => log.info({ ...facts, ...more }, message),
  warn: (more, message) => log.warn({ ...facts, ...more }, message),
  error: (more, message) => log.error({ ...facts, ...more }, message),
});
