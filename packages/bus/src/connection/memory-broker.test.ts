import { realAfter } from '@infrakit/spi';
import { brokenTests, disposable } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { brokenConnections } from '../contract/connection.broken.ts';
import { connectionContract } from '../contract/connection-contract.ts';
import { memorySubject } from '../contract/memory-subject.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

contractTests(connectionContract, async () => disposable(memorySubject({ after: realAfter, log: silent })));

brokenTests(connectionContract, brokenConnections);
