import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { locate, readDocument, readDocuments } from './document.ts';
import { plain } from './located.ts';

const file = 'x.yml';
const valuesOf = (text: string, options = {}) =>
  readDocuments(text, { file, ...options }).map((one) => plain(one.root));
const errorOf = (run: () => unknown): AppError => {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was thrown');
};

describe('formats', () => {
  test('auto reads JSON by the rules of JSON: 1e5 is a number there and text in YAML 1.1', () => {
    expect(valuesOf('{"a": 1e5,\n\t"b": "\\/"}')).toEqual([{ a: 100000, b: '/' }]);
    expect(valuesOf('{"a": 1e5}', { format: 'yaml' })).toEqual([{ a: '1e5' }]);
    expect(valuesOf('{a: 1e5}')).toEqual([{ a: '1e5' }]);
    expect(valuesOf('[1]\n---\n[2]')).toEqual([[1], [2]]);
  });

  test('a broken .json file is told by the rules of JSON, any other by those of YAML', () => {
    const text = '{"a": 1,\n "b": [}';
    expect(errorOf(() => readDocuments(text, { file: 'x.json' })).message).toMatch(/^x\.json:2:8: not JSON: /);
    expect(errorOf(() => readDocuments(text, { file })).message).toMatch(/^x\.yml:2:8: not YAML: /);
  });

  test('json refuses YAML', () => {
    expect(errorOf(() => readDocuments('a: 1', { file, format: 'json' })).code).toBe('SPEC_UNREADABLE');
  });
});

describe('documents', () => {
  test('each has its file and index', () => {
    const documents = readDocuments('a: 1\n---\nb: 2\n', { file });
    expect(documents.map((one) => [one.file, one.index, plain(one.root)])).toEqual([
      [file, 0, { a: 1 }],
      [file, 1, { b: 2 }],
    ]);
  });

  test('a written null is a document, nothing is none', () => {
    expect(valuesOf('null')).toEqual([null]);
    expect(valuesOf('--- ~\n')).toEqual([null]);
    expect(valuesOf('null', { format: 'json' })).toEqual([null]);
    expect(errorOf(() => readDocuments('---\n', { file })).code).toBe('SPEC_UNREADABLE');
  });

  test('where one is expected a second is refused, at its place', () => {
    expect(plain(readDocument('a: 1', { file }).root)).toEqual({ a: 1 });
    const error = errorOf(() => readDocument('a: 1\n---\nb: 2\n', { file }));
    expect(error.code).toBe('SPEC_UNREADABLE');
    expect(error.message).toMatch(/^x\.yml:3:1: /);
  });
});

describe('limits', () => {
  test('bytes are those of UTF-8, and the rendered text counts too', () => {
    const limits = { bytes: 6 };
    expect(valuesOf('a: é\n', { limits })).toEqual([{ a: 'é' }]);
    expect(errorOf(() => readDocuments('a: éé\n', { file, limits })).code).toBe('SPEC_TOO_LARGE');
    const render = () => ({ text: 'a: 12345', positionOf: () => ({ line: 1, column: 1 }) });
    expect(errorOf(() => readDocuments('x', { file, limits, render })).code).toBe('SPEC_TOO_LARGE');
  });

  test('the default takes 4 MiB and not a byte more', () => {
    const text = (length: number) => `"${'x'.repeat(length - 2)}"`;
    expect(valuesOf(text(4 * 1024 * 1024))).toHaveLength(1);
    expect(errorOf(() => readDocuments(text(4 * 1024 * 1024 + 1), { file })).code).toBe('SPEC_TOO_LARGE');
  });

  test('a passed limit beside a real flaw is SPEC_UNREADABLE', () => {
    const limits = { depth: 1 };
    expect(errorOf(() => readDocuments('a: [1]', { file, limits })).code).toBe('SPEC_TOO_LARGE');
    expect(errorOf(() => readDocuments('a: [1]\na: 2', { file, limits })).code).toBe('SPEC_UNREADABLE');
  });
});

describe('positions', () => {
  test('a byte order mark has no column and CRLF is one line break', () => {
    const document = readDocument('\uFEFFa: 1\r\nb:\r\n  c: 2\r\n', { file });
    expect(locate(document, ['a'])).toEqual({ line: 1, column: 4 });
    expect(locate(document, ['b', 'C'])).toEqual({ line: 3, column: 6 });
  });

  test('what is missing is at the key of its nearest parent', () => {
    const document = readDocument('a: 1\nb:\n  c: 2\n', { file });
    expect(locate(document, ['b', 'missing', 'deeper'])).toEqual({ line: 2, column: 1 });
    expect(locate(document, [])).toEqual({ line: 1, column: 1 });
  });

  test('behind a render hook they are those of the source', () => {
    const positionOf = (offset: number) => ({ line: 100 + offset, column: 7 });
    const document = readDocument('anything', { file, render: () => ({ text: 'a: {b: 1}', positionOf }) });
    expect(locate(document, ['a', 'b'])).toEqual({ line: 107, column: 7 });
    const bad = { file, render: () => ({ text: 'a: 1\na: 2', positionOf }) };
    expect(errorOf(() => readDocuments('anything', bad)).message).toMatch(/^x\.yml:105:7: .*\(first at line 100\)$/);
  });
});
