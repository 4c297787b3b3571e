import { AppError } from '@infrakit/core';
import { expect, test } from 'vitest';
import { createPositions } from './position.ts';
import { renderText } from './render.ts';

const failWith = (thrown: unknown): AppError => {
  try {
    renderText('a', 'x.yml', () => {
      throw thrown;
    });
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('the failure did not become an AppError');
};

test('what the hook gives is taken as it is', () => {
  const rendered = { text: 'b', positionOf: createPositions('a') };
  expect(renderText('a', 'x.yml', () => rendered)).toBe(rendered);
});

test.each([
  ['on the error', Object.assign(new Error('unknown function'), { line: 3, column: 7 }), 'x.yml:3:7: unknown function'],
  [
    'in the facts of an AppError',
    new AppError('SPEC_TEMPLATE', 'unknown function', { facts: { line: 2, column: 4 } }),
    'x.yml:2:4: unknown function',
  ],
  ['nowhere', new Error('unknown function'), 'x.yml:1:1: unknown function'],
  ['and no error at all', 'out of luck', 'x.yml:1:1: out of luck'],
])('a failure becomes SPEC_TEMPLATE at its line and column: %s (GP §5.2)', (_, thrown, message) => {
  const error = failWith(thrown);
  expect(error.code).toBe('SPEC_TEMPLATE');
  expect(error.message).toBe(message);
  expect(error.cause).toBe(thrown);
});
