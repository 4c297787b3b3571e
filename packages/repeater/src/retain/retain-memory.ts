import { rm } from 'node:fs/promises';
import type { Json } from '@infrakit/core';
import { openFactLog } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import { z } from 'zod';

/** What of a source was retained at the sink. */
export interface Remembered {
  /** The topic at the sink. */
  readonly sink: string;
  /** Of the payload that was acknowledged last; empty while that is not known. */
  readonly hash: string;
}

/**
 * What was mirrored as retained, by the topic at the source. It outlives the process: the topics at the sink may hold what others have
 * put there, so that what is ours cannot be asked of the sink (Law 4).
 */
export interface RetainMemory {
  readonly find: (topic: string) => Remembered | undefined;
  readonly topics: () => readonly string[];
  /** Whether another topic goes to the same one at the sink. */
  readonly isShared: (sink: string) => boolean;
  /** Whether there is no room for one more. */
  readonly isFull: () => boolean;
  /** Before anything is retained for a new topic: durable when it resolves, so that nothing is ever left behind unknown. */
  readonly intend: (topic: string, sink: string) => Promise<void>;
  /** The sink has acknowledged a payload. */
  readonly retained: (topic: string, hash: string) => Promise<void>;
  readonly forget: (topic: string) => Promise<void>;
  /** `isForgotten`: nothing of it is kept. */
  readonly close: (isForgotten: boolean) => Promise<void>;
}

const Fact = z.union([
  z.strictObject({ topic: z.string(), sink: z.string(), hash: z.string() }),
  z.strictObject({ gone: z.string() }),
]);

/** Topics that are remembered at most, and their bytes, of the names at both ends. */
const [mostTopics, mostBytes] = [100_000, 32 * 1024 * 1024];

/** Opens what is kept at `path`, or nothing that lasts when it is null. */
export const openRetainMemory = async (path: string | null, log: Log): Promise<RetainMemory> => {
  const known = new Map<string, Remembered>();
  const bySink = new Map<string, number>();
  let bytes = 0;

  const unset = (topic: string): void => {
    const before = known.get(topic);
    if (before === undefined) return;
    known.delete(topic);
    bytes -= topic.length + before.sink.length;
    const left = (bySink.get(before.sink) ?? 1) - 1;
    if (left === 0) bySink.delete(before.sink);
    else bySink.set(before.sink, left);
  };
  const set = (topic: string, one: Remembered): void => {
    unset(topic);
    known.set(topic, one);
    bytes += topic.length + one.sink.length;
    bySink.set(one.sink, (bySink.get(one.sink) ?? 0) + 1);
  };

  const { facts, factLog } = await openFactLog(path, log);
  for (const json of facts) {
    const fact = Fact.safeParse(json);
    if (!fact.success) log.warn({ path }, 'a record of another shape was left out');
    else if ('gone' in fact.data) unset(fact.data.gone);
    else set(fact.data.topic, { sink: fact.data.sink, hash: fact.data.hash });
  }
  const put = async (topic: string, one: Remembered): Promise<void> => {
    await factLog.append({ topic, ...one }, () => set(topic, one));
    factLog.trim(known.size, () => [...known].map(([name, fact]): Json => ({ topic: name, ...fact })));
  };

  return {
    find: (topic) => known.get(topic),
    topics: () => [...known.keys()],
    isShared: (sink) => (bySink.get(sink) ?? 0) > 1,
    isFull: () => known.size >= mostTopics || bytes >= mostBytes,
    intend: (topic, sink) => put(topic, { sink, hash: '' }),
    retained: async (topic, hash) => {
      const one = known.get(topic);
      if (one !== undefined) await put(topic, { ...one, hash });
    },
    forget: (topic) => factLog.append({ gone: topic }, () => unset(topic)),
    close: async (isForgotten) => {
      await factLog.close();
      if (isForgotten && path !== null) await rm(path, { force: true });
    },
  };
};
