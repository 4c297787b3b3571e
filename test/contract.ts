import { type ContractSuite, type MakeSubject, realAfter, runContractCase } from '@infrakit/spi';
import { describe, test } from 'vitest';

/** Each case of a contract suite as a test of its own; a skipped one shows its reason. */
export const contractTests = <Subject>(suite: ContractSuite<Subject>, makeSubject: MakeSubject<Subject>): void => {
  describe(`contract of ${suite.name}`, () => {
    test.for(suite.cases)('$name ($cites)', async (contractCase, { skip }) => {
      const result = await runContractCase(contractCase, makeSubject, { after: realAfter });
      if (result.kind === 'skipped') skip(result.reason);
      if (result.kind === 'failed') throw new Error(result.failure);
    });
  });
};
