import { AppError, RpcFailure } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { decodeError, encodeError } from './rpc-error.ts';

const overTheWire = (error: AppError): AppError =>
  decodeError(RpcFailure.parse(JSON.parse(JSON.stringify(encodeError('c1', error)))));

describe('errors on the wire (DESIGN §6)', () => {
  it('code, sentence, facts and causes arrive; stacks stay', () => {
    const cause = new AppError('STORE_CONFLICT', 'faster', { facts: { key: 'k' }, cause: new TypeError('deep') });
    const sent = new AppError('GROUP_INVALID', 'wrong', { facts: { at: ['Size'] }, cause });
    const got = overTheWire(sent);
    expect(got).toMatchObject({ code: 'GROUP_INVALID', message: 'wrong', facts: { at: ['Size'] } });
    expect(got.cause).toMatchObject({ code: 'STORE_CONFLICT', message: 'faster', facts: { key: 'k' } });
    expect((got.cause as Error).cause).toMatchObject({ message: 'deep' });
    expect(JSON.stringify(encodeError('c1', sent))).not.toContain('rpc-error.test');
  });

  it('an error without facts or cause has none afterwards', () => {
    const got = overTheWire(new AppError('INTERNAL', 'x'));
    expect(got.facts).toEqual({});
    expect('cause' in got).toBe(false);
  });

  it('a cause that is no error arrives as its text', () => {
    expect(overTheWire(new AppError('INTERNAL', 'x', { cause: 7 })).cause).toMatchObject({ message: '7' });
  });

  it('a code of a newer version is INTERNAL, and the code a fact', () => {
    const failure = encodeError('c1', new AppError('INTERNAL', 'x', { facts: { a: 1 } }));
    const newer = { ...failure, error: { ...failure.error, data: { ...failure.error.data, code: 'FROM_TOMORROW' } } };
    expect(decodeError(newer)).toMatchObject({ code: 'INTERNAL', facts: { a: 1, code: 'FROM_TOMORROW' } });
  });

  it('what cannot be JSON, or is endless, stays behind', () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    let deep = new Error('bottom');
    for (let n = 0; n < 100; n += 1) deep = new Error(`level ${n}`, { cause: deep });
    const facts = [{ loop }, { big: 1n }, { long: 'x'.repeat(1_000_000) }];
    for (const each of facts) {
      const frame = encodeError('c1', new AppError('INTERNAL', 'm'.repeat(1_000_000), { facts: each, cause: deep }));
      expect(JSON.stringify(frame).length).toBeLessThan(100_000);
      expect(decodeError(frame).facts).toHaveProperty('omitted');
    }
  });

  it.each([null, 7, 'text', [], { message: 1 }, { message: 'm', code: 'NOT_OURS', facts: 3, cause: [] }])(
    'a cause %j of a foreign sender does no harm',
    (cause) => {
      const failure = encodeError('c1', new AppError('INTERNAL', 'x'));
      const foreign = { ...failure, error: { ...failure.error, data: { ...failure.error.data, cause } } };
      expect(decodeError(foreign)).toMatchObject({ code: 'INTERNAL', message: 'x' });
    },
  );

  it('causes nested without end by a foreign sender are read to a limited depth', () => {
    let cause: unknown = { message: 'bottom' };
    for (let n = 0; n < 100_000; n += 1) cause = { message: `${n}`, cause };
    const failure = encodeError('c1', new AppError('INTERNAL', 'x'));
    const foreign = { ...failure, error: { ...failure.error, data: { ...failure.error.data, cause } } };
    expect(RpcFailure.safeParse(foreign).success).toBe(true);
    let depth = 0;
    for (let at: unknown = decodeError(foreign); at instanceof Error; at = at.cause) depth += 1;
    expect(depth).toBe(6);
  });
});
