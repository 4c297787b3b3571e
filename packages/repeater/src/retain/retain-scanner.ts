import { toAppError } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import type { Endpoint } from '../link/endpoint.ts';
import type { RouteMap } from '../mirror/route.ts';
import type { RetainMemory } from './retain-memory.ts';
import { retainScan, type ScanResult } from './retain-scan.ts';
import { openRetainedReader } from './retained-reader.ts';
import { openRetainedWriter } from './retained-writer.ts';

/** What is looked at, and how often. */
export interface ScannerOptions {
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly filter: string;
  readonly everyMs: number;
  readonly map: RouteMap;
  /** Of letters and digits, and no other scanner's. */
  readonly id: string;
}

export interface ScannerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** After so long without a word a broker counts as gone, in ms. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly memory: () => Promise<RetainMemory>;
  /** Runs a scan when its turn has come. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** What the source speaks; null while that is not known. One of MQTT 5 tells with each message whether it was retained. */
  readonly sourceVersion: () => 4 | 5 | null;
  /** Its note is another one. */
  readonly changed: () => void;
}

/** Looks again and again at what a source has retained, until it is closed. */
export interface RetainScanner {
  /** How the last look went, for people; empty before the first. */
  readonly note: () => string;
  readonly close: () => Promise<void>;
}

/** Until it is known what the source speaks, and after a scan that failed, in ms. */
const [askAgainMs, retryMs] = [250, 15_000];

const noteOf = ({ topics, leftOut }: ScanResult, atMs: number): string =>
  [
    `${topics} retained topics at ${new Date(atMs).toISOString()}`,
    ...(leftOut > 0 ? [`${leftOut} more than can be remembered are left out`] : []),
  ].join(', ');

/** Starts a scanner; the first look is taken as soon as the source is connected. */
export const retainScanner = (options: ScannerOptions, deps: ScannerDeps): RetainScanner => {
  const { from, to, filter, everyMs, map, id } = options;
  const { clock, log, timeoutMs, maxBytes } = deps;
  const abort = new AbortController();
  let note = '';
  let wake = (): void => undefined;

  const tell = (next: string): void => {
    if (next === note) return;
    note = next;
    deps.changed();
  };
  const clientId = (end: Endpoint, side: string): string =>
    end.clientId === undefined ? `ik${side}${id}` : `${end.clientId}-${side}${id.slice(0, 8)}`;

  const scan = async (): Promise<ScanResult> => {
    abort.signal.throwIfAborted();
    // Of its own: who listens to it goes with it.
    const own = new AbortController();
    const stop = (): void => own.abort();
    abort.signal.addEventListener('abort', stop);
    const connecting = { clock, timeoutMs, signal: own.signal };
    try {
      const memory = await deps.memory();
      return await retainScan({
        filter,
        map,
        memory,
        openReader: (visitor) => openRetainedReader(from, clientId(from, 'r'), visitor, { ...connecting, maxBytes }),
        openWriter: () => openRetainedWriter(to, clientId(to, 'p'), connecting),
      });
    } finally {
      abort.signal.removeEventListener('abort', stop);
    }
  };

  /** One look; gives after how long the next one is due. */
  const turn = async (): Promise<number> => {
    const version = deps.sourceVersion();
    if (version === null) return askAgainMs;
    if (version === 5) {
      tell('');
      return everyMs;
    }
    try {
      const result = await deps.inTurn(scan);
      if (result.written + result.removed > 0) {
        log.info({ source: from.name, sink: to.name, filter, ...result }, 'retained messages were mirrored');
      }
      tell(noteOf(result, clock.now()));
      return everyMs;
    } catch (thrown) {
      if (abort.signal.aborted) return everyMs;
      const reason = `what is retained cannot be looked at: ${toAppError(thrown).message}`;
      if (reason !== note) log.warn({ source: from.name, sink: to.name, filter, reason }, 'a scan was cut short');
      tell(reason);
      return Math.min(everyMs, retryMs);
    }
  };

  const run = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      const waitMs = await turn();
      if (abort.signal.aborted) return;
      await new Promise<void>((resolve) => {
        const cancel = clock.after(waitMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
    }
  };
  const running = run();

  return {
    note: () => note,
    close: async () => {
      abort.abort();
      wake();
      await running;
    },
  };
};
