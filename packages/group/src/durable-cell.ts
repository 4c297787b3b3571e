/** A value that is durable whenever it can be read. */
export interface DurableCell<T> {
  /** The last value that was written. */
  readonly get: () => T;
  /**
   * Changes the value; durable when it resolves, with the value as this change left it. Changes are made in the order of
   * the calls, those that wait share one write, and one that gives the same object writes nothing (Law 8). A change that
   * throws refuses itself alone; a write that fails refuses all that it was for, and the value stays.
   */
  readonly update: (change: (now: T) => T) => Promise<T>;
}

interface Job<T> {
  readonly change: (now: T) => T;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A cell that holds `first`, which counts as written. */
export const durableCell = <T>(first: T, write: (value: T) => Promise<void>): DurableCell<T> => {
  let value = first;
  let waiting: Job<T>[] = [];
  let isWriting = false;

  const writeBatch = async (batch: readonly Job<T>[]): Promise<void> => {
    let next = value;
    const made: { readonly job: Job<T>; readonly after: T }[] = [];
    for (const job of batch) {
      try {
        next = job.change(next);
        made.push({ job, after: next });
      } catch (error) {
        job.reject(error);
      }
    }
    try {
      if (next !== value) await write(next);
      value = next;
      for (const { job, after } of made) job.resolve(after);
    } catch (error) {
      for (const { job } of made) job.reject(error);
    }
  };

  const pump = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await writeBatch(batch);
    }
    isWriting = false;
  };

  return {
    get: () => value,
    update: (change) =>
      new Promise((resolve, reject) => {
        waiting.push({ change, resolve, reject });
        if (!isWriting) void pump();
      }),
  };
};
