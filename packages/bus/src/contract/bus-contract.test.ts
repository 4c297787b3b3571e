import { realAfter } from '@infrakit/spi';
import { disposable } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { busContract } from './bus-contract.ts';
import { memorySubject } from './memory-subject.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

contractTests(busContract, async () => disposable(memorySubject({ after: realAfter, log: silent })));
