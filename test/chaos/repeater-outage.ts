import type { Campaign } from '../campaign.ts';
import { runOutages } from '../integration/repeater-outage.ts';

/**
 * The sink is away for the time given, the source restarted, the repeater killed hard ten times at 500 messages a second; at QoS 1
 * and 2, without a buffer and with one: nothing may be lost or out of order, or doubled at QoS 2.
 */
const campaign: Campaign = {
  graceMs: 20 * 60_000,
  run: async ({ seconds }) => {
    const facts: Record<string, unknown> = {};
    for (const hasBuffer of [false, true]) {
      const both = await runOutages({ hasBuffer, downMs: seconds * 1_000 });
      facts[hasBuffer ? 'withBuffer' : 'withoutBuffer'] = { qos1: both[0], qos2: both[1] };
    }
    return facts;
  },
};

export const { graceMs, run } = campaign;
