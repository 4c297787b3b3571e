import { createHash } from 'node:crypto';
import type { RouteMap } from '../mirror/route.ts';
import type { RetainMemory } from './retain-memory.ts';
import type { RetainedReader, RetainedVisitor } from './retained-reader.ts';
import type { RetainedWriter } from './retained-writer.ts';

/** What a scan works with. */
export interface RetainScanDeps {
  readonly filter: string;
  /** Where the topics of the rule go; null for those that are not its own. */
  readonly map: RouteMap;
  readonly memory: RetainMemory;
  readonly openReader: (visitor: RetainedVisitor) => Promise<RetainedReader>;
  readonly openWriter: () => Promise<RetainedWriter>;
}

/** What a scan that was not cut short has found and done. */
export interface ScanResult {
  /** Topics of the rule that are retained at the source. */
  readonly topics: number;
  readonly written: number;
  readonly removed: number;
  /** Topics that there was no room to remember, and that were left alone therefore. */
  readonly leftOut: number;
}

/** Messages, and their bytes, that may wait for the sink before the source is read no further. */
const [mostWaiting, mostWaitingBytes] = [256, 4 * 1024 * 1024];
/** Topics that are asked for by name in one go. */
const batch = 100;
/** How often topics that changed while they were looked at are looked at again. */
const moreLooks = 3;
const nothing = Buffer.alloc(0);

const hashOf = (payload: Buffer): string => createHash('sha256').update(payload).digest('base64').slice(0, 24);

/**
 * Makes what is retained at the sink equal to what is retained at the source, for the topics of one rule: new and changed messages are
 * retained, those that are gone are removed. A topic counts as gone only when the whole of the filter was told without it, and nothing
 * was told of it either when it was asked for by its name. Rejects when it is cut short on either side; then nothing was removed
 * that was not known to be gone (Law 1).
 */
export const retainScan = async ({ filter, map, memory, ...open }: RetainScanDeps): Promise<ScanResult> => {
  const present = new Set<string>();
  const touched = new Set<string>();
  const changed = new Set<string>();
  const waiting = new Set<Promise<void>>();
  let reader: RetainedReader | null = null;
  let waitingBytes = 0;
  let failure: unknown = null;
  let [written, removed, leftOut] = [0, 0, 0];

  const later = (work: () => Promise<void>, bytes: number): void => {
    waitingBytes += bytes;
    const done = work()
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => {
        waitingBytes -= bytes;
        waiting.delete(done);
        if (waiting.size < mostWaiting && waitingBytes < mostWaitingBytes) reader?.resume();
      });
    waiting.add(done);
    if (waiting.size >= mostWaiting || waitingBytes >= mostWaitingBytes) reader?.pause();
  };
  const settled = async (): Promise<void> => {
    while (waiting.size > 0) await Promise.all(waiting);
    if (failure !== null) throw failure;
  };

  const writer = await open.openWriter();

  const retain = async (topic: string, payload: Buffer): Promise<void> => {
    const route = map(topic);
    if (route === null) return;
    const { counter, form, maxBytes } = route;
    const body = payload.length > maxBytes ? null : form === undefined ? payload : form(payload);
    if (body === null) return;
    const known = memory.find(topic);
    const hash = hashOf(body);
    if (known?.hash === hash) return;
    if (known === undefined) {
      if (memory.isFull()) {
        leftOut += 1;
        return;
      }
      await memory.intend(topic, route.topic);
      present.add(topic);
    }
    touched.add(topic);
    const why = await writer.write(route.topic, body);
    if (why !== null) {
      counter.dropped += 1;
      counter.lastDrop = why;
    } else {
      counter.messages += 1;
      counter.bytes += body.length;
      written += 1;
    }
    // What the sink will never take is not offered again before it is another payload.
    await memory.retained(topic, hash);
  };

  /** A topic that is gone at the source. Where another one goes to the same place, that one is told anew by the next scan. */
  const remove = async (topic: string): Promise<void> => {
    const known = memory.find(topic);
    if (known === undefined) return;
    if (memory.isShared(known.sink)) {
      for (const other of memory.topics()) {
        if (memory.find(other)?.sink === known.sink) await memory.retained(other, '');
      }
    }
    touched.add(topic);
    if ((await writer.write(known.sink, nothing)) === null) removed += 1;
    await memory.forget(topic);
  };

  /** Only what is remembered: a source may have any number of topics. */
  const see = (topic: string): void => {
    if (memory.find(topic) !== undefined) present.add(topic);
  };

  const visitor: RetainedVisitor = {
    retained: (topic, payload) => {
      see(topic);
      later(() => retain(topic, payload), payload.length);
    },
    tooLarge: see,
    live: (topic) => {
      if (touched.has(topic)) changed.add(topic);
    },
  };

  const readByName = async (topics: readonly string[]): Promise<void> => {
    for (let at = 0; at < topics.length; at += batch) {
      await reader?.read(topics.slice(at, at + batch));
      await settled();
    }
  };
  const missing = (): string[] => memory.topics().filter((topic) => !present.has(topic));
  /** Topics of a batch that are gone for sure. */
  const removeGone = async (candidates: readonly string[]): Promise<void> => {
    await readByName(candidates);
    for (const topic of candidates) {
      if (!present.has(topic)) later(() => remove(topic), 0);
    }
    await settled();
  };

  try {
    reader = await open.openReader(visitor);
    await reader.read([filter]);
    await settled();
    await removeGone(missing());
    for (let look = 0; look < moreLooks && changed.size > 0; look += 1) {
      const again = [...changed];
      changed.clear();
      for (const topic of again) present.delete(topic);
      await removeGone(again);
    }
    return { topics: present.size, written, removed, leftOut };
  } finally {
    await Promise.all([reader?.close(), writer.close()]);
    await Promise.all(waiting);
  }
};
