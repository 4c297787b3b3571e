import fc from 'fast-check';
import type { CampaignOptions } from '../campaign.ts';
import { play, schedule } from '../laws/schedule.ts';

/** The law schedules of `test/laws` for as long as is asked: one after the other, each from a seed of its own. */
export const run = async ({ seed, seconds, signal }: CampaignOptions): Promise<{ readonly schedules: number }> => {
  const endMs = performance.now() + seconds * 1_000;
  let schedules = 0;
  for (; performance.now() < endMs && !signal.aborted; schedules += 20) {
    await fc.assert(fc.asyncProperty(schedule, play), {
      numRuns: 20,
      seed: seed + schedules,
      interruptAfterTimeLimit: 20_000,
    });
  }
  return { schedules };
};
