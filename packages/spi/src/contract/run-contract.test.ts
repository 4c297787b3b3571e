import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { After } from '../deadline.ts';
import {
  type ContractCase,
  ContractFailure,
  demand,
  demandEqual,
  demandRejects,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { runContract } from './run-contract.ts';
import { testingContext } from './testing-context.ts';

interface Subject {
  readonly number: number;
}

/** Timers that never fire. */
const stoppedAfter: After = () => () => undefined;

/** Timers that fire at once, as if all time had passed. */
const hurriedAfter: After = (_, run) => {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
};

const contractCase = (name: string, run: ContractCase<Subject>['run']): ContractCase<Subject> => ({
  name,
  cites: 'Law 0',
  run,
});

const makeSubjects = () => {
  const released: number[] = [];
  let made = 0;
  const make = async (): Promise<Subject & AsyncDisposable> => {
    made += 1;
    const number = made;
    return { number, [Symbol.asyncDispose]: async () => void released.push(number) };
  };
  return { make, released };
};

const outcomes = async (cases: readonly ContractCase<Subject>[], after: After = stoppedAfter) => {
  const { make, released } = makeSubjects();
  const results = await runContract({ name: 'test', cases }, make, { after });
  return { results, released };
};

describe('running a contract', () => {
  test('each case gets a subject of its own, which is released, whatever comes of the case', async () => {
    const seen: number[] = [];
    const look = contractCase('look', async ({ number }) => void seen.push(number));
    const fail = contractCase('fail', async () => demand(false, 'mend it'));
    const skip = contractCase('skip', async () => skipUnless(undefined, 'cannot'));
    const { results, released } = await outcomes([look, fail, skip, look]);
    expect(seen).toEqual([1, 4]);
    expect(released).toEqual([1, 2, 3, 4]);
    expect(results).toEqual([
      { name: 'look', cites: 'Law 0', kind: 'passed' },
      { name: 'fail', cites: 'Law 0', kind: 'failed', failure: 'mend it' },
      { name: 'skip', cites: 'Law 0', kind: 'skipped', reason: 'cannot' },
      { name: 'look', cites: 'Law 0', kind: 'passed' },
    ]);
  });

  test('an error of the implementation is a failure that shows its code', async () => {
    const { results } = await outcomes([
      contractCase('coded', () => Promise.reject(new AppError('INSTANCE_FAILED', 'no room'))),
      contractCase('bare', () => {
        throw new TypeError('undefined is not a function');
      }),
    ]);
    expect(results.map((result) => result.kind === 'failed' && result.failure)).toEqual([
      'INSTANCE_FAILED: no room',
      'INTERNAL: undefined is not a function',
    ]);
  });

  test('Law 10: a case that hangs has failed, its signal is aborted, and the next one runs', async () => {
    let isAborted = false;
    const { results, released } = await outcomes(
      [
        contractCase('hangs', (_, { signal }) => {
          signal.addEventListener('abort', () => {
            isAborted = true;
          });
          return new Promise(() => undefined);
        }),
        contractCase('runs', async () => undefined),
      ],
      hurriedAfter,
    );
    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'passed']);
    expect(isAborted).toBe(true);
    expect(released).toEqual([1, 2]);
  });

  test('a subject that cannot be made or released is a failure', async () => {
    const cases = [contractCase('nothing', async () => undefined)];
    const unmade = () => Promise.reject(new Error('no broker'));
    const unreleased = async () => ({ number: 1, [Symbol.asyncDispose]: () => Promise.reject(new Error('stuck')) });
    for (const [make, failure] of [
      [unmade, 'INTERNAL: no broker'],
      [unreleased, 'INTERNAL: stuck'],
    ] as const) {
      const results = await runContract<Subject>({ name: 'test', cases }, make, { after: stoppedAfter });
      expect(results).toMatchObject([{ kind: 'failed', failure }]);
    }
  });
});

describe('demands', () => {
  test('equality does not care for the order of members, but for that of lists', () => {
    demandEqual({ a: 1, b: undefined, c: [1, 2] }, { c: [1, 2], a: 1 }, 'it');
    expect(() => demandEqual([1, 2], [2, 1], 'the list')).toThrow(
      new ContractFailure('the list must be [2,1], not [1,2]'),
    );
    expect(() => demandEqual(undefined, null, 'the value')).toThrow('the value must be null, not absent');
  });

  test('a refusal must come, with the right code', async () => {
    const refusal = Promise.reject(new AppError('ROUTE_CONFLICT', 'used'));
    expect((await demandRejects(refusal, ['ROUTE_CONFLICT'], 'it')).message).toBe('used');
    await expect(demandRejects(refusal, ['ROUTE_INVALID'], 'it')).rejects.toThrow(
      'it must be refused with ROUTE_INVALID, not ROUTE_CONFLICT: used',
    );
    await expect(demandRejects(Promise.resolve(), ['ROUTE_INVALID'], 'it')).rejects.toThrow(
      'it must be refused with ROUTE_INVALID; it succeeded',
    );
  });

  test('a check is repeated only where the subject is eventually consistent, and not for ever', async () => {
    const ctx = { ...testingContext(), after: hurriedAfter };
    let looks = 0;
    const third = async () => {
      looks += 1;
      demand(looks === 3, 'not yet');
    };
    await eventually(ctx, true, third);
    expect(looks).toBe(3);
    await expect(eventually(ctx, false, third)).rejects.toThrow('not yet');
    expect(looks).toBe(4);
    await expect(eventually(ctx, true, third)).rejects.toThrow('not yet');
    expect(looks).toBe(64);
  });

  test('an error of the implementation is not waited out', async () => {
    const ctx = { ...testingContext(), after: hurriedAfter };
    let looks = 0;
    const broken = async () => {
      looks += 1;
      throw new AppError('INSTANCE_FAILED', 'no');
    };
    await expect(eventually(ctx, true, broken)).rejects.toThrow('no');
    expect(looks).toBe(1);
  });
});
