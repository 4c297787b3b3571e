import { expect, test } from 'vitest';
import { formatProblem, type Problem, problemsError } from './problem.ts';

const problem = (line: number, column: number, path = 'a.b'): Problem => ({
  file: 'x.yml',
  line,
  column,
  path,
  message: 'no',
});

test('a problem reads file:line:column: path: message, and the whole document has no path', () => {
  expect(formatProblem(problem(3, 5))).toBe('x.yml:3:5: a.b: no');
  expect(formatProblem(problem(3, 5, ''))).toBe('x.yml:3:5: no');
});

test('one error has all problems in the order of the text, as lines and as facts, and keeps its cause', () => {
  const cause = new Error('cause');
  const error = problemsError('SPEC_INVALID', [problem(2, 9), problem(10, 1), problem(2, 1)], cause);
  expect(error.code).toBe('SPEC_INVALID');
  expect(error.message.split('\n')).toEqual(['x.yml:2:1: a.b: no', 'x.yml:2:9: a.b: no', 'x.yml:10:1: a.b: no']);
  expect(error.facts).toEqual({ problems: [problem(2, 1), problem(2, 9), problem(10, 1)], total: 3 });
  expect(error.cause).toBe(cause);
});

test('a hostile text does not make a huge error: 100 problems are told, the rest is counted', () => {
  const error = problemsError(
    'SPEC_INVALID',
    Array.from({ length: 250 }, (_, index) => problem(index + 1, 1)),
  );
  expect(error.message.split('\n')).toHaveLength(101);
  expect(error.message.endsWith('\n… and 150 more')).toBe(true);
  expect(error.facts.problems).toHaveLength(100);
  expect(error.facts.total).toBe(250);
});
