import { expect, test } from 'vitest';
import { createProblem, formatProblem, type Problem, problemsError } from './problem.ts';

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

test('what a document says cannot steer a terminal', () => {
  const { path, message } = createProblem(
    'x.yml',
    { line: 1, column: 1 },
    'a\u001b[2J',
    'found \u009b\u202e\ud800\n é 😀',
  );
  expect(path).toBe('a\\u{1b}[2J');
  expect(message).toBe('found \\u{9b}\\u{202e}\\u{d800}\\u{a} é 😀');
});
