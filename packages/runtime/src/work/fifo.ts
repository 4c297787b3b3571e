/** A queue with constant-time ends: an array whose `shift` moves nothing, however long it is. */
export interface Fifo<T> {
  push(item: T): void;
  shift(): T | undefined;
  size(): number;
}

/** An empty {@link Fifo}. */
export const fifo = <T>(): Fifo<T> => {
  let items: T[] = [];
  let head = 0;
  return {
    push: (item) => {
      items.push(item);
    },
    shift: () => {
      const item = items[head];
      if (head < items.length) head++;
      // Half of the array is behind the head: copying the rest costs no more than the shifts before it.
      if (head * 2 > items.length) {
        items = items.slice(head);
        head = 0;
      }
      return item;
    },
    size: () => items.length - head,
  };
};
