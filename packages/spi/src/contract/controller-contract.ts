import type { ContractSuite } from './contract-case.ts';
import { controllerCommitCases } from './controller-commit-cases.ts';
import { controllerLifeCases } from './controller-life-cases.ts';
import type { ControllerSubject } from './controller-subject.ts';

/** What every controller owes, whatever its rules are about. */
export const controllerContract: ContractSuite<ControllerSubject> = {
  name: 'Controller',
  cases: [...controllerCommitCases, ...controllerLifeCases],
};
