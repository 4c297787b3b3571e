import { expect, test } from 'vitest';
import { runOutage } from './repeater-outage.ts';

/** Short here; `npm run chaos -- repeater-outage` takes the sink away for a minute. */
const downMs = 5_000;

test.each([
  [1, false],
  [2, false],
  [1, true],
  [2, true],
] as const)(
  'issue 6: QoS %i, with a buffer: %s: sink away, source restarted, killed hard ten times at 500 a second: nothing lost, order kept, QoS 2 not doubled',
  async (qos, hasBuffer) => {
    const facts = await runOutage({ qos, hasBuffer, downMs });
    expect(facts).toMatchObject({ kills: 10, sourceRestarts: 2 });
    expect(facts.doubled).toBeLessThanOrEqual(facts.mayBeDoubled);
  },
  180_000,
);
