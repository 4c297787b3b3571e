import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { digest } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { Placed } from '../mirror/mirror-lanes.ts';
import type { RouteMap } from '../mirror/route.ts';
import { openRetainMemory, type RetainMemory } from './retain-memory.ts';
import { type RetainScanner, retainScanner, type ScannerDeps } from './retain-scanner.ts';

export interface ScannersDeps extends Pick<ScannerDeps, 'clock' | 'timeoutMs' | 'maxBytes' | 'changed'> {
  readonly identity: string;
  readonly log: Log;
  /** Where what was mirrored is kept; null for nowhere. */
  readonly folder: string | null;
  readonly mapOf: (placed: Placed) => RouteMap;
  readonly sourceVersion: (placed: Placed) => 4 | 5 | null;
}

/** The scanners of all mirrors. */
export interface RetainScanners {
  /** Starts those that the flows of a mirror ask for, in the place of those that it had. */
  readonly put: (mirrorId: string, placed: readonly Placed[]) => void;
  /** Ends those of a mirror; nobody needs to know any more what it has mirrored. */
  readonly remove: (mirrorId: string) => void;
  readonly notes: (mirrorId: string) => readonly string[];
  /** Ends all; what was mirrored is kept. */
  readonly close: () => Promise<void>;
}

interface Memory {
  users: number;
  /** Tried again after a failure; null before it is wanted. */
  opened: Promise<RetainMemory> | null;
}

interface Running {
  readonly scanner: RetainScanner;
  readonly key: string;
}

/** A rule that takes the place of one with the same topics goes on with what that one has mirrored. */
const keyOf = ({ flow, set }: Placed): string =>
  digest([set, flow.from.identity, flow.to.identity, flow.filter, flow.scan?.words ?? '']).slice(0, 32);

/** Scans at once: each has two connections. */
const mostScans = 8;

/** Lets so many run at once; others wait for their turn. */
const turnstile = (most: number): ScannerDeps['inTurn'] => {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};

/** No scanners yet. */
export const retainScanners = (deps: ScannersDeps): RetainScanners => {
  const { clock, log, folder } = deps;
  const inTurn = turnstile(mostScans);
  const memories = new Map<string, Memory>();
  const mirrors = new Map<string, readonly Running[]>();
  /** What is being closed, by key: a file is opened again only when nobody has it any more. */
  const closing = new Map<string, Promise<void>>();

  const openMemory = async (key: string): Promise<RetainMemory> => {
    await closing.get(key);
    if (folder !== null) await mkdir(folder, { recursive: true });
    return openRetainMemory(folder === null ? null : join(folder, `${key}.log`), log);
  };
  const take = (key: string): Memory => {
    const memory = memories.get(key) ?? { users: 0, opened: null };
    memory.users += 1;
    memories.set(key, memory);
    return memory;
  };
  const opened = (key: string, memory: Memory): Promise<RetainMemory> => {
    memory.opened ??= openMemory(key).catch((error: unknown) => {
      memory.opened = null;
      throw error;
    });
    return memory.opened;
  };
  const release = async ({ scanner, key }: Running, isForgotten: boolean): Promise<void> => {
    const memory = memories.get(key);
    await scanner.close();
    if (memory === undefined) return;
    memory.users -= 1;
    if (memory.users > 0) return;
    memories.delete(key);
    // To forget it, it must be there.
    const last = isForgotten ? opened(key, memory) : memory.opened;
    const closed = Promise.resolve(last)
      .then((kept) => kept?.close(isForgotten))
      .catch((error: unknown) => log.warn({ reason: String(error) }, 'a record of retained messages cannot be closed'));
    closing.set(key, closed);
    await closed;
    if (closing.get(key) === closed) closing.delete(key);
  };

  const start = (one: Placed, n: number): Running | null => {
    const { flow, mirrorId } = one;
    if (flow.scan === undefined) return null;
    const { from, to, filter } = flow;
    const key = keyOf(one);
    const memory = take(key);
    const id = digest([deps.identity, mirrorId, n]).slice(0, 18);
    const scanner = retainScanner(
      { from, to, filter, everyMs: flow.scan.everyMs, map: deps.mapOf(one), id },
      {
        clock,
        log,
        timeoutMs: deps.timeoutMs,
        maxBytes: deps.maxBytes,
        memory: () => opened(key, memory),
        inTurn,
        sourceVersion: () => deps.sourceVersion(one),
        changed: deps.changed,
      },
    );
    return { scanner, key };
  };

  const ended = new Set<Promise<unknown>>();
  const end = (some: readonly Running[], isForgotten: boolean): void => {
    const done = Promise.all(some.map((one) => release(one, isForgotten))).finally(() => ended.delete(done));
    ended.add(done);
  };

  return {
    put: (mirrorId, placed) => {
      const before = mirrors.get(mirrorId) ?? [];
      const next = placed.flatMap((one, n) => start(one, n) ?? []);
      if (next.length > 0) mirrors.set(mirrorId, next);
      else mirrors.delete(mirrorId);
      end(before, true);
    },
    remove: (mirrorId) => {
      const before = mirrors.get(mirrorId) ?? [];
      mirrors.delete(mirrorId);
      end(before, true);
    },
    notes: (mirrorId) => (mirrors.get(mirrorId) ?? []).map(({ scanner }) => scanner.note()).filter(Boolean),
    close: async () => {
      const all = [...mirrors.values()].flat();
      mirrors.clear();
      end(all, false);
      await Promise.all(ended);
    },
  };
};
