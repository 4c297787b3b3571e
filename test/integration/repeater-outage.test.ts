import { expect, test } from 'vitest';
import { runOutages } from './repeater-outage.ts';

/** Short here; `npm run chaos -- repeater-outage` takes the sink away for a minute. */
const downMs = 3_000;

test.each([false, true])(
  'issue 6, with a buffer: %s: sink away, source restarted, killed hard ten times at 500 a second: nothing lost, order kept, QoS 2 not doubled',
  async (hasBuffer) => {
    for (const facts of await runOutages({ hasBuffer, downMs })) {
      expect(facts).toMatchObject({ kills: 10, sourceRestarts: 2 });
      expect(facts.doubled).toBeLessThanOrEqual(facts.mayBeDoubled);
    }
  },
  180_000,
);
