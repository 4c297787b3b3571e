/** Runs one piece of work at a time, in the order asked; a failure is its caller's alone. */
export type Serial = <T>(work: () => Promise<T>) => Promise<T>;

/** A new queue of one. */
export const serial = (): Serial => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
};
