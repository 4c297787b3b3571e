import { type After, type ContractSuite, runContractCase } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';

/** An implementation with one thing wrong, and the name of the case that must find it. */
export interface Broken<Subject> {
  readonly what: string;
  readonly failing: string;
  readonly make: () => Subject;
}

/** Waits of the suites take a twentieth of their time here: what is broken would make each of them last to its end. */
const soon: After = (ms, run) => {
  const timer = setTimeout(run, ms / 20);
  return () => clearTimeout(timer);
};

/** A subject that has nothing to release. */
export const disposable = <Subject extends object>(subject: Subject): Subject & AsyncDisposable => ({
  ...subject,
  [Symbol.asyncDispose]: async () => {},
});

/** Each broken implementation as a test: the suite must notice, by the case that the breakage is about. */
export const brokenTests = <Subject extends object>(
  suite: ContractSuite<Subject>,
  brokens: readonly Broken<Subject>[],
): void => {
  describe(`the contract of ${suite.name} finds one that`, () => {
    test.for(brokens)('$what', async ({ failing, make }) => {
      const contractCase = suite.cases.find(({ name }) => name === failing);
      if (contractCase === undefined) throw new Error(`the suite has no case "${failing}"`);
      const result = await runContractCase(contractCase, async () => disposable(make()), { after: soon });
      expect(result.kind).toBe('failed');
    });
  });
};
