import { suggest } from '@infrakit/core';
import type { z } from 'zod';
import type { Located } from './located.ts';

/** What zod says where the schema has no message of its own. */
export const standard = '\u0000standard';

type Issue = z.core.$ZodIssue;

const kindWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
  array: 'a list',
  tuple: 'a list',
  object: 'a map',
  record: 'a map',
};

const quoted = (value: unknown): string => (value === null ? 'null' : `\`${String(value)}\``);

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? quoted(values[0]) : `one of ${values.map(quoted).join(', ')}`;

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', map: 'entries', set: 'items' };

const bound = (issue: { origin: string; inclusive?: boolean | undefined }, limit: unknown, word: 'least' | 'most') => {
  const unit = units[issue.origin];
  const isStrict = issue.inclusive === false;
  const amount = isStrict ? `${word === 'least' ? 'more' : 'less'} than ${limit}` : `at ${word} ${limit}`;
  return unit === undefined
    ? amount
    : `${amount} ${Number(limit) === 1 ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit}`;
};

/** What a schema wanted, as the object of "expected". */
const expectation = (issue: Issue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return kindWords[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
      return bound(issue, issue.minimum, 'least');
    case 'too_big':
      return bound(issue, issue.maximum, 'most');
    case 'invalid_format':
      return issue.format === 'regex' ? `text like ${issue.pattern}` : `a valid ${issue.format}`;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'options' in issue && issue.options !== undefined ? oneOf(issue.options) : 'another value';
    case 'unrecognized_keys':
      return `no ${issue.keys.map(quoted).join(', ')}`;
    case 'invalid_key':
      return 'another key';
    case 'invalid_element':
    case 'custom':
      return 'another value';
    default:
      return issue satisfies never;
  }
};

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

const kindOf = (value: string | number | boolean): string => {
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
};

/** What was written, as the object of "found". */
const finding = (node: Located): string => {
  if (node.kind !== 'scalar') return node.kind === 'list' ? `a list of ${node.items.length}` : 'a map';
  const { value, raw } = node;
  if (value === null) return 'nothing';
  if (typeof value === 'string') return shorten(JSON.stringify(value));
  return `the ${kindOf(value)} ${shorten(raw ?? String(value))}`;
};

/** Whether a text would be of the kind without its quotes. */
const isUnquoted = (text: string, expected: string): boolean =>
  expected === 'boolean'
    ? text === 'true' || text === 'false'
    : ['number', 'int'].includes(expected) && text.trim() !== '' && Number.isFinite(Number(text));

const advice = (issue: Issue, node: Located): string => {
  if (node.kind !== 'scalar') return '';
  if (node.value === null) return ': give it a value, or remove it';
  if (issue.code === 'invalid_type' && issue.expected === 'string') {
    return `: quote it, ${JSON.stringify(node.raw ?? String(node.value))}`;
  }
  if (issue.code === 'invalid_type' && typeof node.value === 'string' && node.raw === undefined) {
    if (isUnquoted(node.value, issue.expected)) return ': remove the quotes';
  }
  const values = issue.code === 'invalid_value' ? issue.values.filter((value) => typeof value === 'string') : [];
  const meant = typeof node.value === 'string' ? suggest(node.value, values) : undefined;
  return meant === undefined ? '' : `, did you mean \`${meant}\`?`;
};

/** What the options of a union want of the value itself; else what the one issue wants. */
const wanted = (issue: Issue): string => {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return expectation(issue);
  const own = issue.errors.flat().filter((inner) => inner.path.length === 0);
  return [...new Set(own.map(wanted))].join(' or ');
};

/**
 * One sentence for an issue: what was expected, what was found, what to do. A message of the schema's own stays as it is,
 * except that a value that is not there is called missing.
 */
export const sentence = (issue: Issue, node: Located | undefined): string => {
  const isOfKind = ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
  if (node === undefined && isOfKind) return `missing, expected ${wanted(issue)}: add it`;
  if (issue.message !== standard) return issue.message;
  const own =
    issue.code === 'invalid_union' ? issue.errors.flat().find((inner) => inner.message !== standard) : undefined;
  if (own !== undefined && own.path.length === 0) return own.message;
  const found = node === undefined ? 'nothing' : finding(node);
  return `expected ${wanted(issue)}, found ${found}${node === undefined ? '' : advice(issue, node)}`;
};
