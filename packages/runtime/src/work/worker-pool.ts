import { AppError } from '@infrakit/core';
import { whenAborted } from '@infrakit/spi';
import { type Fifo, fifo } from './fifo.ts';

/** How many tasks may be in progress. */
export interface WorkerPoolOptions {
  /** At most so many at once in all (≥ 1). */
  readonly concurrency: number;
  /** At most so many at once of one queue (≥ 1). Default: no limit of its own. */
  readonly perQueue?: number;
  /** At most so many begin in one turn of the event loop, so that a burst leaves sockets, files and timers their turns. Default: no limit. */
  readonly perTurn?: number;
}

/** How one task is run. */
export interface RunOptions {
  readonly signal?: AbortSignal;
}

/** A fair, bounded pool that any number of rules share (DESIGN §4, Law 9). */
export interface WorkerPool extends AsyncDisposable {
  /**
   * Runs `task` when its turn comes and answers as it does. Queues take turns, one task each, so that a queue of
   * 10,000 delays another by one task; within a queue the order is that of the calls. Starts at once if it may.
   *
   * Rejects at once with `RPC_CANCELLED` when `options.signal` aborts or the pool closes: a waiting task is never
   * started, one in progress has its own signal aborted, and keeps its place until it ends, so give it a deadline.
   */
  run<T>(queue: string, task: (signal: AbortSignal) => Promise<T>, options?: RunOptions): Promise<T>;
  /** Cancels what waits and what is in progress, refuses what comes, and resolves when nothing is in progress. */
  close(): Promise<void>;
  /** As {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
  /** How many tasks wait, and how many are in progress. */
  load(): { readonly waiting: number; readonly running: number };
}

interface Job {
  state: 'waiting' | 'running' | 'cancelled';
  readonly start: (onEnd: () => void) => void;
}

interface Queue {
  readonly name: string;
  readonly jobs: Fifo<Job>;
  running: number;
  hasTurn: boolean;
}

const cancelledBy = (queue: string, cause: unknown): AppError =>
  new AppError('RPC_CANCELLED', `a task of ${queue} was cancelled`, { facts: { queue }, cause });

/** An open {@link WorkerPool}. */
export const workerPool = ({
  concurrency,
  perQueue = concurrency,
  perTurn = Number.POSITIVE_INFINITY,
}: WorkerPoolOptions): WorkerPool => {
  const queues = new Map<string, Queue>();
  const turns = fifo<Queue>();
  const cancels = new Set<(cause: unknown) => void>();
  const idle: (() => void)[] = [];
  let waiting = 0;
  let running = 0;
  let started = 0;
  let isClosed = false;

  const takeTurn = (queue: Queue): void => {
    if (queue.hasTurn || queue.running >= perQueue) return;
    if (queue.jobs.size() > 0) {
      queue.hasTurn = true;
      turns.push(queue);
    } else if (queue.running === 0) {
      queues.delete(queue.name);
    }
  };

  const nextJob = (queue: Queue): Job | undefined => {
    let job = queue.jobs.shift();
    while (job?.state === 'cancelled') job = queue.jobs.shift();
    return job;
  };

  const pump = (): void => {
    while (running < concurrency && started < perTurn) {
      const queue = turns.shift();
      if (queue === undefined) break;
      queue.hasTurn = false;
      const job = nextJob(queue);
      if (job !== undefined) {
        job.state = 'running';
        waiting--;
        running++;
        queue.running++;
        started++;
        if (started === 1) setImmediate(nextTurn);
        takeTurn(queue);
        job.start(() => {
          running--;
          queue.running--;
          takeTurn(queue);
          pump();
        });
      } else {
        takeTurn(queue);
      }
    }
    if (running === 0) for (const resolve of idle.splice(0)) resolve();
  };

  const nextTurn = (): void => {
    started = 0;
    pump();
  };

  const queueOf = (name: string): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { name, jobs: fifo(), running: 0, hasTurn: false };
    queues.set(name, queue);
    return queue;
  };

  const close = (): Promise<void> => {
    isClosed = true;
    for (const cancel of [...cancels]) cancel(new Error('the pool is closed'));
    return new Promise((resolve) => {
      idle.push(resolve);
      pump();
    });
  };

  return {
    run: <T>(name: string, task: (signal: AbortSignal) => Promise<T>, { signal }: RunOptions = {}) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) return reject(cancelledBy(name, new Error('the pool is closed')));
        if (signal?.aborted) return reject(cancelledBy(name, signal.reason));

        let controller: AbortController | undefined;
        const cancel = (cause: unknown): void => {
          if (job.state === 'waiting') waiting--;
          job.state = 'cancelled';
          release();
          const error = cancelledBy(name, cause);
          reject(error);
          controller?.abort(error);
        };
        const forget = signal && whenAborted(signal, () => cancel(signal.reason));
        const release = (): void => {
          cancels.delete(cancel);
          forget?.();
        };
        const job: Job = {
          state: 'waiting',
          start: (onEnd) => {
            controller = new AbortController();
            const { signal: own } = controller;
            const ended = new Promise<T>((done) => done(task(own))).finally(() => {
              release();
              onEnd();
            });
            ended.then(resolve, reject);
          },
        };
        cancels.add(cancel);
        const queue = queueOf(name);
        queue.jobs.push(job);
        waiting++;
        takeTurn(queue);
        pump();
      }),
    close,
    [Symbol.asyncDispose]: close,
    load: () => ({ waiting, running }),
  };
};
