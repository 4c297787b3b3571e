/** What becomes of messages that a full buffer has no room for. */
export type BufferPolicy = 'drop-oldest' | 'drop-newest' | 'block';

/** How much the buffers of one spec may keep. */
export interface BufferSettings {
  readonly maxBytes: number;
  readonly policy: BufferPolicy;
}

/** One buffer among those that share a budget. */
export interface BudgetMember {
  /** When the oldest that may be dropped came, in ms; null for none. */
  readonly oldestMs: () => Promise<number | null>;
  /** Gives that one up, and its bytes back; false when there is none any more. */
  readonly dropOldest: () => Promise<boolean>;
}

/** A buffer's share. */
export interface BudgetShare {
  /**
   * Whether a message of so many bytes may be kept; it then counts. At `block` it may take until there is room, or until
   * `signal`, which is a no.
   */
  readonly admit: (bytes: number, signal: AbortSignal) => boolean | Promise<boolean>;
  readonly free: (bytes: number) => void;
  /** What it has at its beginning counts too, whether there is room or not. */
  readonly hold: (bytes: number) => void;
  /** What it holds no longer counts. */
  readonly leave: () => void;
}

/** What all buffers of one spec may keep together. */
export interface BufferBudget {
  readonly set: (settings: BufferSettings) => void;
  readonly settings: () => BufferSettings;
  readonly join: (member: BudgetMember) => BudgetShare;
}

/** A budget of which nothing is used. */
export const bufferBudget = (first: BufferSettings): BufferBudget => {
  let settings = first;
  let used = 0;
  const members = new Set<BudgetMember>();
  let waiting: (() => void)[] = [];

  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const call of woken) call();
  };
  const change = (bytes: number): void => {
    used = Math.max(0, used + bytes);
    if (bytes < 0) wake();
  };
  const room = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done);
      waiting.push(done);
    });

  /** The oldest of all, wherever it is. */
  const dropOne = async (): Promise<boolean> => {
    let oldest: { readonly member: BudgetMember; readonly ms: number } | null = null;
    for (const member of members) {
      const ms = await member.oldestMs();
      if (ms !== null && (oldest === null || ms < oldest.ms)) oldest = { member, ms };
    }
    return oldest !== null && (await oldest.member.dropOldest());
  };

  const fits = (bytes: number): boolean => used + bytes <= settings.maxBytes;

  /** Whether there is room for so many bytes, which may have to be made or waited for first. */
  const roomFor = async (bytes: number, signal: AbortSignal): Promise<boolean> => {
    while (!fits(bytes)) {
      // One that is larger than the whole buffer would be waited for in vain.
      if (signal.aborted || bytes > settings.maxBytes || settings.policy === 'drop-newest') return false;
      if (settings.policy === 'block') await room(signal);
      else if (!(await dropOne())) return false;
    }
    return true;
  };

  return {
    set: (next) => {
      settings = next;
      wake();
    },
    settings: () => settings,
    join: (member) => {
      let own = 0;
      const count = (bytes: number): true => {
        own += bytes;
        change(bytes);
        return true;
      };
      members.add(member);
      return {
        admit: (bytes, signal) => {
          if (fits(bytes)) return count(bytes);
          return roomFor(bytes, signal).then((hasRoom) => hasRoom && count(bytes));
        },
        free: (bytes) => void count(-Math.min(bytes, own)),
        hold: (bytes) => void count(bytes),
        leave: () => {
          members.delete(member);
          change(-own);
          own = 0;
        },
      };
    },
  };
};
