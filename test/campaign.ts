/** What a campaign gets. */
export interface CampaignOptions {
  /** Where all that is random in it comes from. */
  readonly seed: number;
  /** About how long to go on. */
  readonly seconds: number;
  /** Aborted when it has taken too long: end what was started; that is waited for. */
  readonly signal: AbortSignal;
}

/** What a module in `test/chaos` exports: it breaks things and throws as soon as a promise of the system is broken. */
export interface Campaign {
  /** How long beyond the time that was given it may take, in ms; 60 s if it does not say. */
  readonly graceMs?: number;
  run(options: CampaignOptions): Promise<Readonly<Record<string, unknown>>>;
}

/** How long a campaign that is late may take to end what it has started, in ms: services that run on would be in the way of others. */
const clearingMs = 120_000;

/**
 * Runs a campaign and fails it, with its seed, if it throws or has not ended `graceMs` after the time it was given. One that is
 * late is told so, and has some time to clear up.
 */
export const runCampaign = async (
  campaign: Campaign,
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
  graceMs = campaign.graceMs ?? 60_000,
  clearMs = clearingMs,
): Promise<Readonly<Record<string, unknown>>> => {
  const abort = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const passed = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      timers.push(setTimeout(resolve, ms));
    });
  const campaigning = campaign.run({ seed, seconds, signal: abort.signal });
  const late = passed(seconds * 1000 + graceMs).then(async () => {
    abort.abort();
    await Promise.race([campaigning.catch(() => undefined), passed(clearMs)]);
    throw new Error(`it did not end within ${seconds} s and ${graceMs} ms`);
  });
  // Once it is late, that is the failure, however it ends.
  const ended = campaigning.then(
    (facts) => (abort.signal.aborted ? late : facts),
    (error: unknown) => {
      if (abort.signal.aborted) return late;
      throw error;
    },
  );
  try {
    return await Promise.race([ended, late]);
  } catch (error) {
    throw new Error(`repeat it with --seed ${seed}`, { cause: error });
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
};
