import {
  direct,
  type Instance,
  instanceContract,
  instanceInterface,
  memoryInstanceSubject,
  realAfter,
} from '@infrakit/spi';
import { contractTests } from './contract.ts';

const wrap = (instance: Instance): Instance => direct(instanceInterface, instance, { after: realAfter });

contractTests(instanceContract, () => memoryInstanceSubject({ wrap }));
