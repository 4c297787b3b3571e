import { describe, expect, test } from 'vitest';
import { compile, TemplateError } from './index.ts';

const errorOf = (template: string, data: unknown = {}): TemplateError => {
  try {
    compile(template, { name: 'spec.yml' }).render(data);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error('no error, though one was expected');
};

const place = (error: TemplateError) => [error.kind, error.line, error.column, error.offendingName];

describe('issue 3: errors say what, where and about which name', () => {
  test.each<[string, readonly unknown[]]>([
    ['a\n  {{ nosuch 1 }}', ['parse', 2, 5, 'nosuch']],
    ['größe {{ nosuch }}', ['parse', 1, 11, 'nosuch']],
    ['{{ $x }}', ['parse', 1, 3, '$x']],
    ['{{define "a"}}x{{end}}{{define "a"}}y{{end}}', ['parse', 1, 31, 'a']],
    ['{{ if .x }}', ['parse', 1, 11, undefined]],
    ['{{ .x ', ['parse', 1, 6, undefined]],
    ['a\n{{ "open }}', ['parse', 2, 3, undefined]],
    ['{{ range . }}{{ end }}{{ break }}', ['parse', 1, 25, undefined]],
    ['x\n {{ .gone }}', ['exec', 2, 4, 'gone']],
    ['日本 {{ .gone }}', ['exec', 1, 10, 'gone']],
    ['{{ .a.b.c }}', ['exec', 1, 5, 'b']],
    ['{{ len 3 }}', ['exec', 1, 3, 'len']],
    ['{{ upper }}', ['exec', 1, 3, 'upper']],
    ['{{ "a" | replace "b" }}', ['exec', 1, 9, 'replace']],
    ['{{ template "t" }}', ['exec', 1, 12, 't']],
    ['{{ var "x" }}', ['exec', 1, 3, 'var']],
    ['{{ $y = 1 }}', ['exec', 1, 8, '$y']],
    ['{{define "t"}}\n{{.gone}}{{end}}\n\n{{template "t" .}}', ['exec', 2, 2, 'gone']],
    ['{{ include "str://{{ .gone }}" }}', ['exec', 1, 3, 'gone']],
  ])('%s', (template, expected) => {
    expect(place(errorOf(template, { a: {} }))).toEqual(expected);
  });

  test('the message begins with the name of the template and the place', () => {
    const error = errorOf('a: {{ .gone }}');
    expect(error.templateName).toBe('spec.yml');
    expect(error.message).toBe('spec.yml:1:6: map has no entry for key "gone"');
    expect(error.reason).toBe('map has no entry for key "gone"');
  });

  test('an error in an included text names both', () => {
    expect(errorOf('{{ include "str://\n{{ nosuch }}" }}'.replace('\n', '\\n')).message).toBe(
      'spec.yml:1:3: error calling include: nested:2:3: function "nosuch" not defined',
    );
  });

  test.each([
    ['uper', 'upper'],
    ['Upper', 'upper'],
    ['jsondecode', 'jsonDecode'],
    ['splitlist', 'splitList'],
    ['defualt', 'default'],
    ['lenn', 'len'],
    ['inculde', 'include'],
  ])('%s: did you mean %s?', (name, meant) => {
    expect(errorOf(`{{ ${name} }}`).reason).toBe(`function "${name}" not defined (did you mean "${meant}"?)`);
  });

  test('nothing is suggested for a name that is like none', () => {
    expect(errorOf('{{ metadata "x" }}').reason).toBe('function "metadata" not defined');
  });

  test('a function of the caller is suggested too', () => {
    const compileIt = () => compile('{{ metadat "x" }}', { functions: { metadata: () => '' } });
    expect(compileIt).toThrow(/did you mean "metadata"/);
  });

  test('what was compiled stays usable after an error', () => {
    const template = compile('{{ .x }}');
    expect(() => template.render({})).toThrow(TemplateError);
    expect(template.render({ x: 1 })).toBe('1');
  });

  test('getters of the data that throw are errors of the template', () => {
    const data = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('disk on fire');
      },
    });
    expect(errorOf('{{ .x }}', data).reason).toBe('disk on fire');
  });
});
