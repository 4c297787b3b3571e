import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AppError, errorTable, isErrorCode, toAppError } from './errors.ts';

const golden = readFileSync(new URL('./fixtures/error-codes.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n');

describe('the error table', () => {
  it('is append-only: fixtures/error-codes.txt lists every code there ever was, unchanged; a new code gets a line there', () => {
    const table = Object.entries(errorTable).map(([code, { retry, exit }]) => `${code} ${retry} ${exit}`);
    expect(table.sort()).toEqual(golden.sort());
  });

  it.each(Object.entries(errorTable))(
    '%s is AREA_WHAT with a legal retry class and exit code (DESIGN §6)',
    (code, entry) => {
      expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
      expect(['never', 'later', 'now']).toContain(entry.retry);
      expect([1, 2, 3, 64, 69, 127]).toContain(entry.exit);
    },
  );

  it('every exit code of a failure is reached by some code (DESIGN §6)', () => {
    expect(new Set(Object.values(errorTable).map(({ exit }) => exit))).toEqual(new Set([1, 2, 3, 64, 69, 127]));
  });

  it('knows its codes and nothing inherited', () => {
    expect(isErrorCode('RPC_TIMEOUT')).toBe(true);
    for (const other of ['toString', 'rpc_timeout', '', 5, null]) expect(isErrorCode(other)).toBe(false);
  });
});

describe('AppError', () => {
  it('carries code, sentence, facts and cause', () => {
    const cause = new Error('deep');
    const error = new AppError('PLAN_STALE', 'the plan shown is not the plan now', { facts: { plan: 'p' }, cause });
    expect(error).toMatchObject({ name: 'AppError', code: 'PLAN_STALE', facts: { plan: 'p' }, cause });
    const bare = new AppError('INTERNAL', 'x');
    expect(bare.facts).toEqual({});
    expect('cause' in bare).toBe(false);
  });

  it('toAppError keeps an AppError and wraps everything else as INTERNAL with its cause', () => {
    const known = new AppError('TERM_STALE', 'older term');
    expect(toAppError(known)).toBe(known);
    const thrown = new TypeError('boom');
    expect(toAppError(thrown)).toMatchObject({ code: 'INTERNAL', message: 'boom', cause: thrown });
    expect(toAppError('text')).toMatchObject({ code: 'INTERNAL', message: 'text', cause: 'text' });
  });

  it('an error of another copy of this package keeps its code: a plugin from elsewhere brings its own copy', () => {
    const foreign = Object.assign(new Error('no note'), {
      name: 'AppError',
      code: 'INSTANCE_NOT_FOUND',
      facts: { id: 'n' },
    });
    const known = toAppError(foreign);
    expect(known).toBeInstanceOf(AppError);
    expect(known).toMatchObject({ code: 'INSTANCE_NOT_FOUND', message: 'no note', facts: { id: 'n' } });
    const stranger = Object.assign(new Error('x'), { name: 'AppError', code: 'OOPS', facts: {} });
    expect(toAppError(stranger)).toMatchObject({ code: 'INTERNAL', cause: stranger });
  });
});
