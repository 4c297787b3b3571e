import { toAppError } from '@infrakit/core';
import { type CallContext, type ContractResult, type Instance, testingContext } from '@infrakit/spi';
import type { ProgramEnd } from './run-program.ts';

/** How a program is run by hand, apart from the contract. */
export interface FirstLook {
  readonly instance: Instance;
  readonly properties: unknown;
  readonly tryVerb: (verb: string, ctx: CallContext) => Promise<ProgramEnd>;
}

interface FirstCase {
  readonly name: string;
  readonly mend: string;
  /** Undefined when it is as it should be, else what is wrong. */
  readonly run: (look: FirstLook, ctx: CallContext) => Promise<string | undefined>;
}

const cases: readonly FirstCase[] = [
  {
    name: 'the program answers validate',
    mend: 'Let it read one line of JSON on stdin, and print one JSON object, or nothing, on stdout.',
    run: async ({ instance, properties }, ctx) => {
      await instance.validate({ properties }, ctx);
      return undefined;
    },
  },
  {
    name: 'the program answers describe',
    mend: 'Let it print {"instances": [{"ID": "…", "Tags": {…}, "LogicalID": null}, …]}.',
    run: async ({ instance }, ctx) => {
      await instance.describe({ tags: {}, properties: true }, ctx);
      return undefined;
    },
  },
  {
    name: 'the program refuses a verb that it does not know',
    mend: 'Let it end with an exit code that is not 0 for any other verb, so that a later protocol can tell.',
    run: async ({ tryVerb }, ctx) => {
      const end = await tryVerb('no-such-verb', ctx);
      return end.kind === 'exited' && end.code === 0 ? 'the verb no-such-verb ended with exit code 0' : undefined;
    },
  },
];

/** A case and what to mend when it failed. */
export type CheckedCase = ContractResult & { readonly mend?: string };

/** Whether a program speaks the protocol at all: where it does not, nothing else is worth a look. */
export const firstLook = async (look: FirstLook): Promise<CheckedCase[]> => {
  const results: CheckedCase[] = [];
  for (const { name, mend, run } of cases) {
    const failure = await run(look, testingContext({ timeoutMs: 30_000 })).catch((thrown: unknown) => {
      const { code, message } = toAppError(thrown);
      return `${code}: ${message}`;
    });
    const facts = { name, cites: 'protocol 1' };
    results.push(failure === undefined ? { ...facts, kind: 'passed' } : { ...facts, kind: 'failed', failure, mend });
  }
  return results;
};
