/** How far one side is behind, from samples, so that single messages cost nothing. */
export interface Progress {
  /** Says how many were sent and confirmed by now; to be called every so often. */
  readonly sample: (nowMs: number, sent: number, confirmed: number) => void;
  /** How old the oldest message without an acknowledgement is at least, in ms; 0 when there is none. */
  readonly oldestMs: (nowMs: number, confirmed: number) => number;
  /** Since when messages wait and none was confirmed, in ms; null while things go on. */
  readonly stalledSinceMs: () => number | null;
}

/** The longest history that is kept. */
const maxSamples = 1_000;

/** Nothing sent yet. */
export const progress = (): Progress => {
  let samples: { readonly ms: number; readonly sent: number }[] = [];
  let lastConfirmed = 0;
  let stalledSinceMs: number | null = null;
  return {
    sample: (nowMs, sent, confirmed) => {
      const isWaiting = sent > confirmed;
      if (!isWaiting || confirmed > lastConfirmed) stalledSinceMs = isWaiting ? nowMs : null;
      else stalledSinceMs ??= nowMs;
      lastConfirmed = confirmed;
      samples = samples.filter((sample) => sample.sent > confirmed);
      const newest = samples.at(-1);
      if (isWaiting && newest?.sent !== sent && samples.length < maxSamples) samples.push({ ms: nowMs, sent });
    },
    oldestMs: (nowMs, confirmed) => {
      const oldest = samples.find((sample) => sample.sent > confirmed);
      return oldest === undefined ? 0 : nowMs - oldest.ms;
    },
    stalledSinceMs: () => stalledSinceMs,
  };
};
