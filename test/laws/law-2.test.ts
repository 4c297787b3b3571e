import { expect, test } from 'vitest';
import { known, lawWorld, items } from './world.ts';

test('Law 2: a known-empty source empties the sink without a restart, whatever the budget', async () => {
  const law = lawWorld();
  await law.enroll(items(10));
  expect(law.enrolled()).toHaveLength(10);
  law.setSource(known([], { target: 0 }));
  law.trigger();
  await law.run();
  expect(law.enrolled()).toEqual([]);
});
