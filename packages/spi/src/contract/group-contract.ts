import type { ContractCase, ContractSuite } from './contract-case.ts';
import { controllerContract } from './controller-contract.ts';
import type { ControllerSubject } from './controller-subject.ts';
import { groupMembershipCases } from './group-membership-cases.ts';
import { groupSizeCases } from './group-size-cases.ts';
import type { GroupSubject } from './group-subject.ts';

const asController = (subject: GroupSubject): ControllerSubject => ({ ...subject, controller: subject.group });

/** What every group controller owes: all that a controller does, and its members. */
export const groupContract: ContractSuite<GroupSubject> = {
  name: 'Group',
  cases: [
    ...controllerContract.cases.map(
      ({ name, cites, run }): ContractCase<GroupSubject> => ({
        name,
        cites,
        run: (subject, ctx) => run(asController(subject), ctx),
      }),
    ),
    ...groupSizeCases,
    ...groupMembershipCases,
  ],
};
