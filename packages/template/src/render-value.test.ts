import { describe, expect, test } from 'vitest';
import { compileValue, instanceData, renderValue, TemplateError } from './index.ts';

const errorOf = (body: () => unknown): TemplateError => {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error('no error, though one was expected');
};

describe('EI §1.6 [WANT], EI-E16: each text of a JSON value is a template', () => {
  const data = instanceData({ ID: 'i-1', Tags: { zone: 'b' }, Properties: { q: 'has "quotes" \\ back', n: 3 } });

  test('quotes and backslashes are put in as text', () => {
    expect(renderValue({ v: '\\{\\{ (jsonDecode .Properties).q \\}\\}' }, data)).toEqual({ v: 'has "quotes" \\ back' });
  });

  test('double quotes in a template compile', () => {
    expect(renderValue({ v: '\\{\\{ index .Tags "zone" \\}\\}' }, data)).toEqual({ v: 'b' });
  });

  test('plain, once and doubly escaped braces are all understood', () => {
    expect(renderValue(['{{.ID}}', '\\{\\{.ID\\}\\}', '\\\\{\\\\{.ID\\\\}\\\\}', '\\{ x \\}'], data)).toEqual([
      'i-1',
      'i-1',
      'i-1',
      '\\{ x \\}',
    ]);
  });

  test('keys are rendered; numbers, booleans and null stay', () => {
    expect(renderValue({ '\\{\\{.ID\\}\\}': [1, true, null, { n: 2.5 }], k: {} }, data)).toEqual({
      'i-1': [1, true, null, { n: 2.5 }],
      k: {},
    });
  });

  test('results stay texts, whatever they look like', () => {
    expect(renderValue(['{{ 3 }}', '{{ true }}', '{{ toJson . }}'], { a: 1 })).toEqual(['3', 'true', '{"a":1}']);
  });

  test('variables are known in the texts that come later in the order of the keys', () => {
    const value = {
      b: '{{ $p.q }}{{ var `k` }}',
      a: '{{ $p := . }}{{ var `k` .q }}',
      c: ['{{ $p.q }}', '{{ $x := 1 }}', '{{ $x }}'],
    };
    expect(renderValue(value, { q: 'v' })).toEqual({ a: '', b: 'vv', c: ['v', '', '1'] });
  });

  test('variables are unknown before their text', () => {
    const error = errorOf(() => renderValue({ a: '{{ $p }}', b: '{{ $p := 1 }}' }, null));
    expect(error.kind).toBe('parse');
    expect(error.reason).toBe('undefined variable "$p"');
  });

  test('definitions of one text are known in all', () => {
    expect(renderValue({ a: '{{ template "t" 1 }}', b: '{{ define "t" }}<{{ . }}>{{ end }}' }, null)).toEqual({
      a: '<1>',
      b: '',
    });
  });

  test('each rendering starts anew', () => {
    const template = compileValue({ a: '{{ var `n` (add 1 (var `n`)) }}', b: '{{ var `n` }}' });
    expect(template.render(null, { vars: { n: 1 } })).toEqual({ a: '', b: '2' });
    expect(template.render(null, { vars: { n: 5 } })).toEqual({ a: '', b: '6' });
  });

  test('errors name the text by its path', () => {
    const value = { a: { 'b/c': ['x', '\n {{ .gone }}'] } };
    const error = errorOf(() => renderValue(value, {}, { name: 'properties' }));
    expect([error.templateName, error.line, error.column, error.offendingName]).toEqual([
      'properties/a/b~1c/1',
      2,
      4,
      'gone',
    ]);
    expect(errorOf(() => compileValue({ '{{ nosuch }}': 1 })).templateName).toBe('/{{ nosuch }}#');
  });

  test('two keys that render alike are an error', () => {
    expect(errorOf(() => renderValue({ x: 1, '{{ `x` }}': 2 }, null)).reason).toBe('two keys render to "x"');
  });

  test('a key named __proto__ stays a key', () => {
    const rendered = renderValue(JSON.parse('{"__proto__": "{{ .a }}"}'), { a: 1 });
    expect(JSON.stringify(rendered)).toBe('{"__proto__":"1"}');
  });

  test('neither the value nor the data is changed', () => {
    const value = { a: ['{{ set . "b" 1 }}'] };
    const own = { a: 1 };
    expect(renderValue(value, own)).toEqual({ a: ['map[a:1 b:1]'] });
    expect([value, own]).toEqual([{ a: ['{{ set . "b" 1 }}'] }, { a: 1 }]);
  });

  test('renderAsync waits for the loader', async () => {
    const template = compileValue({ a: '{{ include "x" }}' }, { loader: async ({ url }) => `<${url}>` });
    expect(await template.renderAsync(null)).toEqual({ a: '<x>' });
    expect(errorOf(() => template.render(null)).reason).toContain('render with renderAsync');
  });
});
