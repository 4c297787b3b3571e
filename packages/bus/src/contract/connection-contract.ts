import type { ContractSuite } from '@infrakit/spi';
import { deliveryCases } from './connection-delivery-cases.ts';
import { lifeCases } from './connection-life-cases.ts';
import type { ConnectionSubject } from './connection-scene.ts';

export type { ConnectionSubject } from './connection-scene.ts';

/** What every connection owes, whatever the broker behind it (DESIGN §3, {@link import('../connection/connection.ts').Connection}). */
export const connectionContract: ContractSuite<ConnectionSubject> = {
  name: 'Connection',
  cases: [...deliveryCases, ...lifeCases],
};
