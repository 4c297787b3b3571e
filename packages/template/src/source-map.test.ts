import { describe, expect, test } from 'vitest';
import { compile } from './index.ts';

const locate = (template: string, data: unknown, wanted: string) => {
  const { text, map } = compile(template).renderWithMap(data);
  const offset = text.indexOf(wanted);
  expect(offset).toBeGreaterThanOrEqual(0);
  return map.locate(offset);
};

describe('issue 3: from the rendered text back to the template', () => {
  const template = '{{/* a note */}}\nkind: group\n{{- range .l }}\n- größe {{ . }} end\n{{- end }}\nlast: x\n';
  const data = { l: ['one', 'two\nlines'] };

  test('the text is that of render', () => {
    expect(compile(template).renderWithMap(data).text).toBe(compile(template).render(data));
  });

  test.each([
    ['kind', 2, 0],
    ['group', 2, 6],
    ['größe', 4, 2],
    ['end', 4, 18],
    ['last', 6, 0],
  ])('text maps to itself: %s', (wanted, line, column) => {
    expect(locate(template, data, wanted)).toEqual({ line, column, offset: template.indexOf(wanted) });
  });

  test.each(['one', 'two', 'lines'])('what an action printed maps to the action: %s', (wanted) => {
    expect(locate(template, data, wanted)).toEqual({ line: 4, column: 13, offset: template.indexOf('{{ . }}') + 3 });
  });

  test('text in a definition maps to the definition, of an included text to the action', () => {
    expect(locate('{{define "t"}}\nin{{end}}a{{template "t"}}', null, 'in')).toEqual({
      line: 2,
      column: 0,
      offset: 15,
    });
    expect(locate('a\n{{include "str://b\\nc"}}', null, 'c')).toEqual({ line: 2, column: 2, offset: 4 });
  });

  test('offsets before the beginning and beyond the end', () => {
    const { map } = compile('ab{{/* x */}}c').renderWithMap(null);
    expect(map.locate(2)).toEqual({ line: 1, column: 13, offset: 13 });
    expect(map.locate(99)).toEqual({ line: 1, column: 14, offset: 14 });
    expect(compile('').renderWithMap(null).map.locate(0)).toEqual({ line: 1, column: 0, offset: 0 });
  });

  test('renderWithMapAsync maps as well', async () => {
    const rendered = await compile('a {{ include "x" }} b', { loader: async () => 'loaded' }).renderWithMapAsync(null);
    expect(rendered.text).toBe('a loaded b');
    expect(rendered.map.locate(9)).toEqual({ line: 1, column: 20, offset: 20 });
  });
});
