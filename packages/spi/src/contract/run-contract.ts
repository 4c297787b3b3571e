import { toAppError } from '@infrakit/core';
import { type DeadlineDeps, withDeadline } from '../deadline.ts';
import {
  type ContractCase,
  type ContractContext,
  ContractFailure,
  ContractSkip,
  type ContractSuite,
} from './contract-case.ts';

/** What came of one case. */
export type ContractResult = { readonly name: string; readonly cites: string } & (
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly failure: string }
  | { readonly kind: 'skipped'; readonly reason: string }
);

/** Makes the thing to be checked; called once for each case, and released after it. */
export type MakeSubject<Subject> = () => Promise<Subject & AsyncDisposable>;

export interface ContractDeps extends DeadlineDeps {
  /** The deadline of one call; 5 s when left out. */
  readonly callTimeoutMs?: number;
  /** The deadline of a case with its set-up, and of its release; 15 s when left out. A case that hangs has failed (Law 10). */
  readonly caseTimeoutMs?: number;
}

const sentenceOf = (thrown: unknown): string => {
  if (thrown instanceof ContractFailure) return thrown.message;
  const { code, message } = toAppError(thrown);
  return `${code}: ${message}`;
};

/** Runs one case on a fresh subject. Never rejects: what goes wrong, in the release too, is a failure. */
export const runContractCase = async <Subject>(
  contractCase: ContractCase<Subject>,
  makeSubject: MakeSubject<Subject>,
  deps: ContractDeps,
): Promise<ContractResult> => {
  const { after, callTimeoutMs = 5_000, caseTimeoutMs = 15_000 } = deps;
  const { name, cites } = contractCase;
  const within = <T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(work, { after, what, timeoutMs: caseTimeoutMs });
  let subject: (Subject & AsyncDisposable) | undefined;
  try {
    const made = await within('making the subject', makeSubject);
    subject = made;
    await within(`"${name}"`, (signal) => {
      const ctx: ContractContext = { signal, timeoutMs: callTimeoutMs, after };
      return contractCase.run(made, ctx);
    });
    await within('releasing the subject', async () => made[Symbol.asyncDispose]());
    return { name, cites, kind: 'passed' };
  } catch (thrown) {
    const released = subject;
    await within('releasing the subject', async () => released?.[Symbol.asyncDispose]()).catch(() => undefined);
    if (thrown instanceof ContractSkip) return { name, cites, kind: 'skipped', reason: thrown.message };
    return { name, cites, kind: 'failed', failure: sentenceOf(thrown) };
  }
};

/** Runs a suite, one case after the other, each on a fresh subject; one result a case, in order. */
export const runContract = async <Subject>(
  suite: ContractSuite<Subject>,
  makeSubject: MakeSubject<Subject>,
  deps: ContractDeps,
): Promise<ContractResult[]> => {
  const results: ContractResult[] = [];
  for (const contractCase of suite.cases) results.push(await runContractCase(contractCase, makeSubject, deps));
  return results;
};
