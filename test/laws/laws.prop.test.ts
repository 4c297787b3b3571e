import fc from 'fast-check';
import { test } from 'vitest';
import { play, schedule } from './schedule.ts';

test('Laws 1, 3, 4, 6, 8: whatever happens, no law is broken, and one resync leads to what is desired', async () => {
  await fc.assert(fc.asyncProperty(schedule, play), { numRuns: 30, interruptAfterTimeLimit: 15_000 });
}, 60_000);
