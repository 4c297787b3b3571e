import { brokenTests, disposable } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { memoryElection } from '../reference/memory-leadership.ts';
import { brokenLeaderships } from './leadership.broken.ts';
import { leadershipContract } from './leadership-contract.ts';

contractTests(leadershipContract, async () => {
  const { join, loseLease } = memoryElection();
  return disposable({ first: join(), second: join(), loseLease: async () => loseLease() });
});

brokenTests(leadershipContract, brokenLeaderships);
