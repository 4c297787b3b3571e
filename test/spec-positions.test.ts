import { AppError } from '@infrakit/core';
import { decode, type Problem, type Render, readDocuments } from '@infrakit/document';
import { compile, TemplateError } from '@infrakit/template';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/** Templates count columns from 0 in bytes, documents from 1 in UTF-16 units. */
const inDocument = (text: string, { line, column }: { readonly line: number; readonly column: number }) => {
  const bytes = Buffer.from(text.split('\n')[line - 1] ?? '');
  return { line, column: bytes.subarray(0, column).toString('utf8').length + 1 };
};

/** The template language as what renders documents. */
const render: Render = (source) => {
  try {
    const included = ({ url }: { readonly url: string }) => (url === 'tags.yml' ? '{a: 1,\n    b: {{ 2 }}}' : '');
    const template = compile(source, { loader: included });
    const { text, map } = template.renderWithMap({}, { vars: { size: 3n } });
    return { text, positionOf: (offset) => inDocument(source, map.locate(offset)) };
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    throw Object.assign(new Error(thrown.reason), inDocument(source, thrown));
  }
};

const problemsOf = (text: string, schema: z.ZodType): { readonly code: string; readonly at: readonly string[] } => {
  try {
    for (const document of readDocuments(text, { file: 'spec.yml', render })) decode(document, schema);
    return { code: '', at: [] };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const problems = thrown.facts?.problems as readonly Problem[] | undefined;
    return {
      code: thrown.code,
      at: (problems ?? []).map(({ line, column, path, message }) => `${line}:${column} ${path} ${message}`),
    };
  }
};

const group = z.strictObject({
  kind: z.literal('group'),
  metadata: z.strictObject({ name: z.string(), tags: z.record(z.string(), z.number()).optional() }),
  properties: z.strictObject({ Size: z.number(), Items: z.array(z.number()).optional() }),
});

describe('DESIGN §5: errors of a rendered spec say where they are in its template', () => {
  test('after comments of several lines, declarations, trimmed loops and an include', () => {
    const { code, at } = problemsOf(
      [
        '{{/* héader',
        '   of two lines */}}{{ $n := var "size" }}kind: group',
        'metadata:',
        '  name: {{ "wörk" }}{{ "ers" }}',
        '  tags: {{ include "tags.yml" }}',
        'properties:',
        '  Items:',
        '{{- range $i := until 3 }}',
        '  - {{ if eq $i 1 }}two{{ else }}{{ $i }}{{ end }}',
        '{{- end }}',
        '  {{ "Size" }}: {{ $n }}',
        '  {{ printf "é" }}: 1',
        '  Ünknown: 1',
        '{{- /* trimmed */ -}}',
        '',
        '',
        '  ',
      ].join('\n'),
      group,
    );
    expect(code).toBe('SPEC_INVALID');
    expect(at.map((sentence) => sentence.split(' ').slice(0, 2).join(' '))).toEqual([
      '9:21 properties.Items[1]',
      '12:6 properties["é"]',
      '13:3 properties["Ünknown"]',
    ]);
  });

  test.each([
    ['an unknown function', 'kind: group\nmetadata: {{ "é" }}{{ vra "size" }}', '2:23 ', 'vra'],
    ['a missing key', 'kind: group\r\n# ü {{ .nope }}', '2:8 ', 'nope'],
    ['an unclosed block', 'kind: x\n{{ if true }}', '2:14 ', '{{end}}'],
  ])('%s of the template', (_, text, place, names) => {
    const { code, at } = problemsOf(text, group);
    expect(code).toBe('SPEC_TEMPLATE');
    expect(at).toHaveLength(1);
    expect(at[0]?.startsWith(place)).toBe(true);
    expect(at[0]).toContain(names);
  });

  test('YAML that a template broke: at the line of the template', () => {
    const { code, at } = problemsOf('kind: group\n{{ "# a\\n# b\\n# c" }}\nmetadata: {a: [1}\n', group);
    expect(code).toBe('SPEC_UNREADABLE');
    expect(at[0]).toMatch(/^3:/);
  });

  test('whatever stands between: each unknown field is told at its own place', () => {
    const between = fc.constantFrom(
      '# plain ü𝒳\n',
      '{{ "# one\\n# two\\n" }}\n',
      '{{ range until 3 }}# é{{ . }}\n{{ end }}',
      '{{/* nothing\n\n at all */}}\n',
      '{{- "\\n# trimmed" -}}\n\n\n{{ "\\n" }}',
      '{{ if false }}gone: 1\n{{ else }}# kept\n{{ end }}',
      '{{ template "t" }}',
      '{{ with 1 }}# with {{ . }}\n{{ end }}\n',
    );
    const parts = fc.array(
      fc.tuple(fc.array(between, { maxLength: 3 }), fc.constantFrom('', '{{ "" }}', '{{/*é*/}}')),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(parts, (list) => {
        let text = '{{ define "t" }}# defined\n{{ end }}';
        const planted = list.map(([before, prefix], n) => {
          text += before.join('') + prefix;
          const lines = text.split('\n');
          text += `odd${n}: 1\n`;
          return `${lines.length}:${(lines.at(-1) ?? '').length + 1} odd${n}`;
        });
        const { at } = problemsOf(text, z.strictObject({ even: z.number().optional() }));
        expect(at.map((sentence) => sentence.split(' ').slice(0, 2).join(' '))).toEqual(planted);
      }),
      { numRuns: 300 },
    );
  });
});
