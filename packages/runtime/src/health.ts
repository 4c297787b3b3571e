/** How a loop is judged: by the age of its last completed cycle, not by being connected (Law 10). */
export interface LoopHealth {
  readonly isHealthy: boolean;
  /** Since the last completed cycle, or since the start while there is none, in ms. */
  readonly ageMs: number;
}

/** Healthy while a cycle was completed within three resync intervals, and one call's deadline for the cycle itself. */
export const loopHealth = (
  at: { readonly startedMs: number; readonly completedMs: number | null; readonly nowMs: number },
  limits: { readonly syncIntervalMs: number; readonly callTimeoutMs: number },
): LoopHealth => {
  const ageMs = at.nowMs - (at.completedMs ?? at.startedMs);
  return { isHealthy: ageMs <= 3 * limits.syncIntervalMs + limits.callTimeoutMs, ageMs };
};
