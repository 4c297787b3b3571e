import { brokenTests } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { direct } from '../direct.ts';
import { groupInterface } from '../group.ts';
import { memoryGroupSubject } from '../reference/memory-group-subject.ts';
import { brokenGroups } from './group.broken.ts';
import { groupContract } from './group-contract.ts';
import { realAfter } from './testing-context.ts';

contractTests(groupContract, async () =>
  memoryGroupSubject((group) => direct(groupInterface, group, { after: realAfter })),
);

brokenTests(groupContract, brokenGroups);
