import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toAppError } from '@infrakit/core';
import {
  type ContractDeps,
  direct,
  type Instance,
  type InstanceSubject,
  instanceContract,
  instanceInterface,
  memoryJournal,
  runContractCase,
  testingContext,
} from '@infrakit/spi';
import type { z } from 'zod';
import { advice } from './check-advice.ts';
import { type CheckedCase, firstLook } from './check-cases.ts';
import { type ExecInstance, openExecInstance } from './exec-instance.ts';
import { ExecOptions } from './exec-options.ts';

/** What to check, and what the suite cannot know by itself. */
export interface ProgramCheck {
  readonly options: z.input<typeof ExecOptions>;
  /** Properties that can be provisioned. */
  readonly properties: unknown;
  /** Properties with at least one fault; where left out, refusing them is not checked. */
  readonly invalidProperties?: unknown;
  readonly keepsLogicalId: boolean;
  readonly hasIdempotencyKeys: boolean;
  readonly isEventuallyConsistent: boolean;
  /** How many instances the case about long lists makes. */
  readonly longList: number;
  /** Only the cases of the contract whose names hold this text. */
  readonly only?: string;
}

export interface CheckDeps extends ContractDeps {
  readonly variable: (name: string) => string | undefined;
  /** Ends the check after the case that is under way. */
  readonly signal?: AbortSignal;
  /** Told of each case as soon as it has ended. */
  readonly onCase?: (result: CheckedCase) => void;
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const closeMs = 1_000;

/** Whether `label` is refused as such; anything else it says is for the suite to judge. */
const refusesLabels = async (instance: Instance, properties: unknown): Promise<boolean> => {
  const ctx = testingContext({ timeoutMs: 30_000 });
  const spec = { Properties: properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  const { id } = await instance.provision({ spec }, ctx);
  try {
    await instance.label({ id, labels: { 'infrakit.check': 'yes' } }, ctx);
    return false;
  } catch (thrown) {
    return toAppError(thrown).code === 'LABEL_REFUSED';
  } finally {
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx).catch(() => undefined);
  }
};

/**
 * Runs a program through the instance contract, with a state folder of its own that is removed afterwards; gives a result for
 * each case, with words on what to mend. Where the program does not speak the protocol at all, only that.
 */
export const checkProgram = async (check: ProgramCheck, deps: CheckDeps): Promise<CheckedCase[]> => {
  const { properties, invalidProperties } = check;
  const options = ExecOptions.parse(check.options);
  const stateDir = await mkdtemp(join(tmpdir(), 'infrakit-check-'));
  const open = (): Promise<ExecInstance> =>
    openExecInstance(options, {
      after: deps.after,
      log: silent,
      variable: deps.variable,
      stateDir,
      journal: memoryJournal(),
    });
  const results: CheckedCase[] = [];
  const told = (more: readonly CheckedCase[]): void => {
    results.push(...more);
    for (const result of more) deps.onCase?.(result);
  };
  try {
    const first = await open();
    const instance = direct(instanceInterface, first.instance, deps);
    told(await firstLook({ instance, properties, tryVerb: first.tryVerb }));
    if (results.some(({ kind }) => kind === 'failed')) return results;
    // Where nothing can be provisioned the suite says so.
    const isRelabelRefused = await refusesLabels(instance, properties).catch(() => false);
    await first.close(closeMs);
    const makeSubject = async (): Promise<InstanceSubject & AsyncDisposable> => {
      let opened = await open();
      return {
        get instance() {
          return direct(instanceInterface, opened.instance, deps);
        },
        properties: () => properties,
        ...(invalidProperties !== undefined && { invalidProperties }),
        keepsLogicalId: check.keepsLogicalId,
        isRelabelRefused,
        hasIdempotencyKeys: check.hasIdempotencyKeys,
        takesTerms: true,
        isEventuallyConsistent: check.isEventuallyConsistent,
        longList: check.longList,
        restart: async () => {
          await opened.close(closeMs);
          opened = await open();
        },
        [Symbol.asyncDispose]: () => opened.close(closeMs),
      };
    };
    for (const contractCase of instanceContract.cases.filter(({ name }) => name.includes(check.only ?? ''))) {
      deps.signal?.throwIfAborted();
      const result = await runContractCase(contractCase, makeSubject, deps);
      const mend = advice[result.name];
      told([result.kind === 'failed' && mend !== undefined ? { ...result, mend } : result]);
    }
    return results;
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
};
