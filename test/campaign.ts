/** What a campaign gets. */
export interface CampaignOptions {
  /** Where all that is random in it comes from. */
  readonly seed: number;
  /** About how long to go on. */
  readonly seconds: number;
  /** Aborted when it has taken too long: end what was started. */
  readonly signal: AbortSignal;
}

/** What a module in `test/chaos` exports: it breaks things and throws as soon as a promise of the system is broken. */
export interface Campaign {
  /** How long beyond the time that was given it may take, in ms; 60 s if it does not say. */
  readonly graceMs?: number;
  run(options: CampaignOptions): Promise<Readonly<Record<string, unknown>>>;
}

/** Runs a campaign and fails it, with its seed, if it throws or has not ended `graceMs` after the time it was given. */
export const runCampaign = async (
  campaign: Campaign,
  { seed, seconds }: { readonly seed: number; readonly seconds: number },
  graceMs = campaign.graceMs ?? 60_000,
): Promise<Readonly<Record<string, unknown>>> => {
  const abort = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        abort.abort();
        reject(new Error(`it did not end within ${seconds} s and ${graceMs} ms`));
      },
      seconds * 1000 + graceMs,
    );
  });
  try {
    return await Promise.race([campaign.run({ seed, seconds, signal: abort.signal }), late]);
  } catch (error) {
    throw new Error(`repeat it with --seed ${seed}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
};
