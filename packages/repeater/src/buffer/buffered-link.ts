import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppError, decorrelatedBackoff, toAppError } from '@infrakit/core';
import type { Endpoint } from '../link/endpoint.ts';
import { type Link, type LinkDeps, type LinkOptions, type LinkStatus, openLink } from '../link/link.ts';
import type { LinkPlan } from '../link/link-session.ts';
import type { RouteCounter } from '../mirror/route.ts';
import type { BufferBudget } from './buffer-budget.ts';
import { type BufferInlet, bufferInlet } from './buffer-inlet.ts';
import { bufferOutlet } from './buffer-outlet.ts';
import { type BufferStatus, type DiskBuffer, openDiskBuffer } from './disk-buffer.ts';
import { diskRoom } from './disk-room.ts';

export interface BufferedLinkDeps extends LinkDeps {
  /** Where buffers are; each has a folder of its own in there. */
  readonly bufferFolder: string;
  readonly budget: BufferBudget;
}

/** A buffer that is open, with the links to both sides of it. */
interface Running {
  readonly disk: DiskBuffer;
  readonly inward: Link;
  readonly outward: Link;
  readonly heldMs: () => number;
  readonly leave: () => void;
}

const backoff = { baseMs: 200, maxMs: 15_000 };
const order = ['active', 'connecting', 'unhealthy'] as const satisfies readonly LinkStatus['state'][];
/** A file is an eighth of what may be kept, within these bounds. */
const [leastFileBytes, mostFileBytes] = [64 * 1024, 16 * 1024 * 1024];

const local = (name: string, open: Endpoint['open']): Endpoint => ({
  key: name,
  identity: name,
  name,
  // No probe goes through it, and it takes as many messages at once as there are packet ids.
  isLog: true,
  isBuffer: true,
  open,
});

/** Counts what goes into a buffer apart from what comes out of it, which is what was mirrored; drops are drops. */
const intake = (counter: RouteCounter): RouteCounter => ({
  messages: 0,
  bytes: 0,
  overflowed: 0,
  get dropped() {
    return counter.dropped;
  },
  set dropped(count) {
    counter.dropped = count;
  },
  get lastDrop() {
    return counter.lastDrop;
  },
  set lastDrop(why) {
    counter.lastDrop = why;
  },
});

/** Messages are kept as the source has them: where they go is asked when they leave. */
const inwardPlan = ({ wanted, map }: LinkPlan): LinkPlan => ({
  wanted,
  map: (topic) => {
    const route = map(topic);
    if (route === null) return null;
    const retain = route.retain === 'if-told' ? 'if-told' : 'keep';
    return { topic, retain, maxBytes: route.maxBytes, counter: intake(route.counter) };
  },
});

/**
 * A link with a buffer on the disk in its middle: the source is acknowledged when a message is durable, and it is released when
 * the sink has acknowledged it. Each side connects and is watched by itself.
 */
export const openBufferedLink = (options: LinkOptions, first: LinkPlan, deps: BufferedLinkDeps): Link => {
  const { from, to, qos, id } = options;
  const { clock, random, log, budget, changed } = deps;
  const folder = join(deps.bufferFolder, id);
  let plan = first;
  let running: Running | null = null;
  let lastError = '';
  const sinceMs = clock.now();
  let isClosed = false;
  let wake = (): void => undefined;

  const outwardPlan = (): LinkPlan => ({
    wanted: [{ filter: '#', qos }],
    map: (topic) => {
      const route = plan.map(topic);
      // What is in the buffer as retained was told so.
      return route?.retain === 'if-told' ? { ...route, retain: 'keep' } : route;
    },
  });
  const dropped = (topic: string): void => {
    const route = plan.map(topic);
    if (route === null) return;
    route.counter.overflowed += 1;
    route.counter.lastDrop = 'the buffer was full';
  };

  const expired = (topic: string): void => {
    const route = plan.map(topic);
    if (route === null) return;
    route.counter.dropped += 1;
    route.counter.lastDrop = 'it has waited for longer than its publisher wanted';
  };

  const start = async (failed: (error: AppError) => void): Promise<Running> => {
    let free = (_bytes: number): void => undefined;
    const disk = await openDiskBuffer({
      folder,
      fileBytes: () => Math.min(mostFileBytes, Math.max(leastFileBytes, budget.settings().maxBytes / 8)),
      log,
      freed: (bytes) => free(bytes),
      failed,
    });
    const share = budget.join({
      oldestMs: disk.oldestDroppableMs,
      dropOldest: async () => {
        const gone = await disk.dropOldest();
        if (gone !== null) dropped(gone.topic);
        return gone !== null;
      },
    });
    free = share.free;
    share.hold(disk.status().bytes);
    const room = await diskRoom(folder, () => disk.status().messages, clock);
    let inlet: BufferInlet | null = null;
    const heldMs = (): number => inlet?.heldMs() ?? 0;
    const into = local('the buffer', async () => {
      inlet = bufferInlet({ buffer: disk, share, room, nowMs: clock.now, dropped });
      return { stream: inlet.stream };
    });
    const outOf = local('the buffer', async () => ({
      stream: bufferOutlet(disk, { nowMs: clock.now, expired }),
    }));
    return {
      disk,
      heldMs,
      leave: share.leave,
      inward: openLink({ ...options, to: into }, inwardPlan(plan), { ...deps, heldMs }),
      outward: openLink({ from: outOf, to, qos, version: options.version === 4 ? 4 : 'both', id }, outwardPlan(), deps),
    };
  };

  const stop = async ({ disk, inward, outward, leave }: Running, isForgotten: boolean): Promise<void> => {
    await Promise.all([inward.close(isForgotten), outward.close(isForgotten)]);
    await (isForgotten ? disk.remove() : disk.close());
    leave();
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const cancel = clock.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });

  /** Until the disk refuses, or it is closed. */
  const once = async (): Promise<void> => {
    let failed: (error: AppError) => void = () => undefined;
    const end = new Promise<AppError | null>((resolve) => {
      failed = resolve;
      wake = () => resolve(null);
    });
    const opened = await start(failed);
    if (isClosed) wake();
    running = opened;
    lastError = '';
    changed();
    const error = await end;
    if (error === null) return;
    running = null;
    await stop(opened, false).catch(() => undefined);
    throw error;
  };

  const run = async (): Promise<void> => {
    let waitMs = 0;
    while (!isClosed) {
      try {
        await once();
      } catch (thrown) {
        const { message } = toAppError(thrown);
        lastError = message;
        log.warn({ source: from.name, sink: to.name, reason: message }, 'a buffer cannot be used');
        changed();
        waitMs = decorrelatedBackoff(waitMs, random, backoff);
        if (!isClosed) await pause(waitMs);
      }
    }
  };
  const finished = run();

  const waiting = (status: BufferStatus) => ({
    unacknowledged: status.messages,
    oldestMs: status.oldestMs === null ? 0 : Math.max(0, clock.now() - status.oldestMs),
    buffered: { messages: status.messages, bytes: status.bytes },
  });

  return {
    apply: (next) => {
      plan = next;
      running?.inward.apply(inwardPlan(next));
      running?.outward.apply(outwardPlan());
    },
    stateOf: (filter) => running?.inward.stateOf(filter) ?? 'none',
    status: () => {
      if (running === null) {
        return {
          state: 'connecting',
          sinceMs,
          lastError,
          unacknowledged: 0,
          oldestMs: 0,
          latencyMs: null,
          spoken: null,
        };
      }
      const { inward, outward, disk, heldMs } = running;
      const [outer, inner] = [outward.status(), inward.status()];
      const worse = order.indexOf(inner.state) > order.indexOf(outer.state) ? inner : outer;
      const full = heldMs() >= clock.now() - deps.probeMs ? 'the buffer or its disk is full: the source waits' : '';
      return {
        ...worse,
        lastError: worse.state === 'active' ? full || worse.lastError : worse.lastError,
        latencyMs: outer.latencyMs,
        spoken: outer.spoken === null ? null : { ...outer.spoken, source: inner.spoken?.source ?? 4 },
        ...waiting(disk.status()),
      };
    },
    close: async (isForgotten) => {
      isClosed = true;
      wake();
      await finished;
      if (running !== null) await stop(running, isForgotten);
      else if (isForgotten) await rm(folder, { recursive: true, force: true });
      running = null;
    },
  };
};
