import type { ContractSuite } from './contract-case.ts';
import { instanceChangeCases } from './instance-change-cases.ts';
import { instanceDescribeCases } from './instance-describe-cases.ts';
import { instanceProvisionCases } from './instance-provision-cases.ts';
import type { InstanceSubject } from './instance-subject.ts';

/** What every instance plugin owes, in-process and over the bus. */
export const instanceContract: ContractSuite<InstanceSubject> = {
  name: 'Instance',
  cases: [...instanceProvisionCases, ...instanceChangeCases, ...instanceDescribeCases],
};
