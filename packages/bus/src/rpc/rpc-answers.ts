/** Bounds of what is remembered. */
export interface AnswerLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly keepMs: number;
}

/** Answers that were given, for a request that is delivered or sent again. */
export interface RpcAnswers {
  readonly get: (key: string) => string | undefined;
  /** Remembers an answer; the oldest ones make room, and one that is too large for all the room is not kept. */
  readonly put: (key: string, answer: string) => void;
  readonly heldBytes: () => number;
}

/** What a text takes at most for each of its UTF-16 units. */
const bytesPerUnit = 2;
/** What an entry costs beside its answer and its key. */
const overheadBytes = 200;

/** Nothing remembered yet. What is too old goes with the next `get` or `put`. */
export const rpcAnswers = ({ maxCount, maxBytes, keepMs }: AnswerLimits, nowMs: () => number): RpcAnswers => {
  /** In the order they were given. */
  const answers = new Map<string, { readonly answer: string; readonly sinceMs: number; readonly cost: number }>();
  let held = 0;
  const forget = (key: string): void => {
    held -= answers.get(key)?.cost ?? 0;
    answers.delete(key);
  };
  const trim = (): void => {
    const oldestMs = nowMs() - keepMs;
    for (const [key, { sinceMs }] of answers) {
      if (sinceMs > oldestMs && held <= maxBytes && answers.size <= maxCount) return;
      forget(key);
    }
  };
  return {
    get: (key) => {
      trim();
      return answers.get(key)?.answer;
    },
    put: (key, answer) => {
      forget(key);
      const cost = (answer.length + key.length) * bytesPerUnit + overheadBytes;
      if (cost <= maxBytes) {
        answers.set(key, { answer, sinceMs: nowMs(), cost });
        held += cost;
      }
      trim();
    },
    heldBytes: () => held,
  };
};
