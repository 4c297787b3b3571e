import { seededRandom } from '@infrakit/runtime';
import type { CampaignOptions } from '../campaign.ts';
import { playRealJob, realRounds } from '../e2e/real-crash.ts';

/** What issue 7 asks for, however long it takes. */
const leastRounds = 20;
/** A round takes about 7 s. */
export const graceMs = 300_000;

/** kill -9 of infrakit and of podman's service at random moments of random scales, on real parts: 20 rounds. Needs root. */
export const run = async ({ seed, signal }: CampaignOptions): Promise<Readonly<Record<string, unknown>>> => {
  await using stage = await playRealJob(3);
  const rounds = await realRounds(stage, leastRounds, seededRandom(seed), signal);
  const sorted = rounds.map(({ recoveredMs }) => recoveredMs).sort((left, right) => left - right);
  return {
    rounds: rounds.length,
    recovered_ms_median: sorted[Math.floor(sorted.length / 2)],
    recovered_ms_max: sorted.at(-1),
  };
};
