/** Runs one piece of work of each key at a time, in the order asked; a failure is its caller's alone. */
export type SerialByKey = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** New queues, one for each key that has work. */
export const serialByKey = (): SerialByKey => {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const next = (last.get(key) ?? Promise.resolve()).then(work, work);
    const settled = next
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === settled) last.delete(key);
      });
    last.set(key, settled);
    return next;
  };
};
