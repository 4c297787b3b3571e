import type { Log } from '@infrakit/spi';

/** Messages that nobody can make sense of: each is counted, and the log hears of them at most once a minute. */
export interface BadMessages {
  readonly note: (topic: string, reason: string) => void;
  /** How many there were. */
  readonly count: () => number;
}

const quietMs = 60_000;
/** The sender of a bad message chose its topic too. */
const maxTopicLength = 200;

/** None yet. The line in the log has the newest one, and how many there were since the last line. */
export const badMessages = ({ log, nowMs }: { readonly log: Log; readonly nowMs: () => number }): BadMessages => {
  let [total, logged] = [0, 0];
  let lastMs: number | undefined;
  return {
    note: (topic, reason) => {
      total += 1;
      const now = nowMs();
      if (lastMs !== undefined && now - lastMs < quietMs) return;
      log.warn({ topic: topic.slice(0, maxTopicLength), reason, count: total - logged, total }, 'bad message dropped');
      lastMs = now;
      logged = total;
    },
    count: () => total,
  };
};
