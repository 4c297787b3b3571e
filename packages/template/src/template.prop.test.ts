import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, escape as escapeBraces, TemplateError, unescape as unescapeBraces } from './index.ts';

/** Small limits, so that a run that is out of bounds ends soon. */
const limits = { steps: 20_000, memory: 200_000, output: 100_000 };

const noteworthy = fc.constantFrom('{', '}', '\\', '{{', '}}', '\\{', '\\}', 'a', ' ', '\n', 'é', '😀');
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: noteworthy }));

/** A rendering, or the error; anything but a TemplateError fails the property. */
const outcome = (template: string, data: unknown): string | TemplateError => {
  try {
    return compile(template, { limits }).render(data);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
};

const names = fc.constantFrom('.a', '.b.c', '.', '$', '$x', '.nope', '$.a');
const literals = fc.oneof(
  fc.integer({ min: -5, max: 2000 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.string({ maxLength: 6 }).map((value) => JSON.stringify(value)),
  fc.constantFrom('true', 'false', 'nil', "'x'", '`raw`', '1i'),
);
const functions = fc.constantFrom(
  ...[
    'print',
    'printf',
    'len',
    'index',
    'eq',
    'lt',
    'and',
    'or',
    'not',
    'upper',
    'repeat',
    'list',
    'dict',
    'until',
    'add',
  ],
  ...[
    'split',
    'join',
    'quote',
    'toJson',
    'jsonDecode',
    'var',
    'default',
    'trunc',
    'indent',
    'regexReplaceAll',
    'q',
    'set',
  ],
  ...[
    'append',
    'concat',
    'yamlEncode',
    'yamlDecode',
    'html',
    'replace',
    'wrap',
    'untilStep',
    'loop',
    'include',
    'source',
  ],
);

const grammar = fc.letrec<{ operand: string; pipe: string; statement: string; body: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 4 },
    names,
    literals,
    tie('pipe').map((pipe) => `(${pipe})`),
  ),
  pipe: fc
    .tuple(
      fc.oneof(functions, names, literals),
      fc.array(tie('operand'), { maxLength: 3 }),
      fc.array(functions, { maxLength: 2 }),
    )
    .map(([head, args, stages]) => [[head, ...args].join(' '), ...stages].join(' | ')),
  statement: fc.oneof(
    { maxDepth: 4 },
    fc.string({ maxLength: 8 }),
    tie('pipe').map((pipe) => `{{ ${pipe} }}`),
    tie('pipe').map((pipe) => `{{- $x := ${pipe} -}}`),
    tie('pipe').map((pipe) => `{{ $x = ${pipe} }}`),
    fc
      .tuple(fc.constantFrom('if', 'with', 'range', 'range $i, $x :='), tie('pipe'), tie('body'), tie('body'))
      .map(([keyword, pipe, body, other]) => `{{${keyword} ${pipe}}}${body}{{else}}${other}{{end}}`),
    fc.tuple(fc.constantFrom('t', 'u'), tie('body')).map(([name, body]) => `{{block "${name}" .}}${body}{{end}}`),
    fc.constantFrom('{{template "t" .}}', '{{template "u" $}}', '{{break}}', '{{continue}}', '{{/* note */}}'),
  ),
  body: fc.array(tie('statement'), { maxLength: 5 }).map((parts) => parts.join('')),
}));

describe('issue 3: properties of the template language', () => {
  test('text without actions renders to itself', () => {
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(!value.includes('{{'));
        expect(compile(value).render(null)).toBe(value);
      }),
    );
  });

  test('escape, then unescape, is the identity on text that holds no escaped braces yet (EI §1.6, EI-E27)', () => {
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(unescapeBraces(value) === value);
        expect(unescapeBraces(escapeBraces(value))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });

  test('escaped text without backslashes survives one rendering', () => {
    fc.assert(
      fc.property(fc.string({ unit: noteworthy }), (value) => {
        fc.pre(!value.includes('\\'));
        expect(compile(escapeBraces(value)).render(null)).toBe(escapeBraces(value));
      }),
    );
  });

  test('any text compiles and renders, or fails with a TemplateError', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(noteworthy, fc.constantFrom('.', '|', '(', ')', '"', '`', '-', '$x', ':=', 'if', 'end')),
        }),
        (value) => {
          outcome(value, { a: 1 });
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('templates of a grammar end, and render alike each time', () => {
    const data = fc.jsonValue({ maxDepth: 2 }).map((value) => ({ a: value, b: { c: [value, 'x', 2] } }));
    fc.assert(
      fc.property(grammar.body, data, (template, value) => {
        const before = JSON.stringify(value);
        const first = outcome(template, value);
        const second = outcome(template, value);
        expect(String(first)).toBe(String(second));
        expect(JSON.stringify(value)).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  test('any JSON value prints, encodes and decodes', () => {
    const texts = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(texts, (json) => {
        const value: unknown = JSON.parse(json);
        const rendered = compile('{{ toJson . }}').render(value);
        expect(JSON.parse(rendered)).toEqual(value);
        expect(compile('{{ jsonDecode . | toJson }}').render(json)).toBe(rendered);
        expect(compile('{{ print . }}').render(value)).toBeTypeOf('string');
      }),
    );
  });
});
