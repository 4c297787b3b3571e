import type { ContractSuite } from '@infrakit/spi';
import { discoveryCases } from './bus-discovery-cases.ts';
import { eventCases } from './bus-event-cases.ts';
import { retainedCases } from './bus-retained-cases.ts';
import type { BusSubject } from './bus-scene.ts';

/** What processes on any broker must see of each other (DESIGN §3). */
export const busContract: ContractSuite<BusSubject> = {
  name: 'bus',
  cases: [...discoveryCases, ...retainedCases, ...eventCases],
};
