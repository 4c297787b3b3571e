/**
 * Which publishes are not safe yet: one is when each lasting session that it is for has it on disk, or its client has acknowledged
 * it. Only then whoever published it is acknowledged, so that `kill -9` loses nothing that was.
 */
export interface PublishSafety {
  /** Calls back when the sessions take the publish of this number, in the same turn: what is written then is written with it. */
  readonly whenTaken: (number: number, begin: () => void) => void;
  /** The sessions take a publish now. */
  readonly taken: (number: number) => void;
  /** Something has to be done before the publish is safe; to be called once when it is. */
  readonly hold: (number: number) => () => void;
  /** Calls back when the publish is safe. All that hold it do so by now. */
  readonly whenSafe: (number: number, done: () => void) => void;
}

/** Nothing is on its way. */
export const publishSafety = (): PublishSafety => {
  const held = new Map<number, { left: number; done: (() => void) | undefined }>();
  const toBegin = new Map<number, () => void>();
  return {
    whenTaken: (number, begin) => void toBegin.set(number, begin),
    taken: (number) => {
      const begin = toBegin.get(number);
      if (begin === undefined) return;
      toBegin.delete(number);
      begin();
    },
    hold: (number) => {
      const publish = held.get(number) ?? { left: 0, done: undefined };
      held.set(number, publish);
      publish.left += 1;
      return () => {
        publish.left -= 1;
        if (publish.left > 0) return;
        held.delete(number);
        publish.done?.();
      };
    },
    whenSafe: (number, done) => {
      toBegin.delete(number);
      const publish = held.get(number);
      if (publish === undefined) done();
      else publish.done = done;
    },
  };
};
