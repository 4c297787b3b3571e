import { describe, expect, test } from 'vitest';
import {
  compile,
  compileValue,
  instanceData,
  renderValue,
  TemplateError,
  unescape as unescapeBraces,
} from './index.ts';
import type { InstanceDescription } from './instance-data.ts';

const select = (selector: string, description: InstanceDescription): string =>
  compile(unescapeBraces(selector), { deterministic: true }).render(instanceData(description));

const reason = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return (error as TemplateError).reason;
  }
  throw new Error('no error, though one was expected');
};

describe('EI §1.6: data of an instance', () => {
  const full = {
    ID: 'i-1',
    LogicalID: 'm2',
    Tags: { name: 'n', 'na-me': 'd' },
    Properties: { b: 1, a: { z: 2, y: 3 } },
  };

  test.each([
    ['.ID', 'i-1'],
    ['.LogicalID', 'm2'],
    ['.Tags.name', 'n'],
    ['index .Tags "na-me"', 'd'],
    ['index .Tags "none"', ''],
    ['.Properties', '{"b":1,"a":{"z":2,"y":3}}'],
    ['(.Properties | jsonDecode).a.z', '2'],
    ['toJson .Properties', '{"b":1,"a":{"z":2,"y":3}}'],
    ['len .Properties', '25'],
    ['.Properties.String', '{"b":1,"a":{"z":2,"y":3}}'],
    ['.Tags', 'map[na-me:d name:n]'],
    ['jsonEncodeIndent "" "" .LogicalID', '"m2"'],
  ])('%s gives %s', (expression, expected) => {
    expect(select(`{{${expression}}}`, full)).toBe(expected);
  });

  test.each([
    ['.LogicalID', '<nil>'],
    ['.Properties', '<nil>'],
    ['.Tags', 'map[]'],
    ['toJson .', '{"ID":"i-0","LogicalID":null,"Tags":null,"Properties":null}'],
    ['default "none" .LogicalID', 'none'],
  ])('%s of an instance without it gives %s (EI-E13)', (expression, expected) => {
    expect(select(`{{${expression}}}`, { ID: 'i-0' })).toBe(expected);
  });

  test.each([
    ['.Tags.none', 'map has no entry for key "none"'],
    ['.Name', "can't evaluate field Name in type instance.Description"],
    ['.Properties.b', "can't evaluate field b in type *types.Any"],
    ['.ID.x', "can't evaluate field x in type string"],
    ['.Properties | q "b"', 'error calling q: nothing can be queried in a value of type *types.Any; decode it first'],
  ])('%s is an error', (expression, expected) => {
    expect(reason(() => select(`{{${expression}}}`, full))).toBe(expected);
  });

  test('decoding missing properties is an error', () => {
    expect(reason(() => select('{{.Properties | jsonDecode}}', { ID: 'x' }))).toContain('unexpected end of JSON input');
  });

  test.each([
    [12, '12'],
    [1000000, '1e+06'],
    [21000000, '2.1e+07'],
  ])('the decoded number %d prints %s, and as it is through int', (number, printed) => {
    expect(
      select('{{(.Properties | jsonDecode).n}} {{int (.Properties | jsonDecode).n}}', {
        ID: 'x',
        Properties: { n: number },
      }),
    ).toBe(`${printed} ${number}`);
  });

  test.each([
    ['h1', '0'],
    ['7', '7'],
    [7.9, '7'],
    [true, '1'],
    [null, '0'],
    [[1], '0'],
  ])('int of %j is %s', (value, expected) => {
    expect(select('{{int (.Properties | jsonDecode).v}}', { ID: 'x', Properties: { v: value } })).toBe(expected);
  });
});

describe('EI §1.13, §1.14: worked selectors', () => {
  const byId = '\\{\\{ .ID \\}\\}';
  const bySlot = '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.slot \\}\\}';

  test('document A: the key is the ID', () => {
    expect(select(byId, { ID: 'n1' })).toBe('n1');
  });

  test('document B: the key is a slot in the properties', () => {
    expect(select(bySlot, { ID: 'web-a', Properties: { slot: 7 } })).toBe('7');
    expect(select(bySlot, { ID: 'web-b', Properties: { slot: 9 } })).toBe('9');
  });

  test('cases 9–11: backend_id as text, properties without it and no properties are errors', () => {
    const selector = '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.backend_id \\}\\}';
    expect(select(selector, { ID: 'instance-1', Properties: { backend_id: '1' } })).toBe('1');
    expect(reason(() => select(selector, { ID: 'instance-3', Properties: {} }))).toContain('"backend_id"');
    expect(reason(() => select(selector, { ID: 'instance-2' }))).toContain('jsonDecode');
  });

  test('case 31: a whole options text is one template, blanks are kept', () => {
    const text = '{"SourceKeySelector" : "\\\\{\\\\{.ID\\\\}\\\\}" , "x": 1 }';
    expect(compile(unescapeBraces(text)).render(instanceData({ ID: 'hello' }))).toBe(
      '{"SourceKeySelector" : "hello" , "x": 1 }',
    );
  });

  test('case 32: properties with a template inside', () => {
    const properties = { List: [{ ID: 'h1' }], Instance: { Properties: { ID: '\\{\\{.ID\\}\\}' } } };
    expect(renderValue(properties, instanceData({ ID: 'hello' }))).toEqual({
      List: [{ ID: 'h1' }],
      Instance: { Properties: { ID: 'hello' } },
    });
  });
});

describe('EI §1.10, §1.14: worked property templates', () => {
  test('case 7: sorted keys, numbers as they are', () => {
    const rendered = renderValue({ iops: 10, host: '\\{\\{.ID\\}\\}' }, instanceData({ ID: 'h3' }));
    expect(JSON.stringify(rendered)).toBe('{"host":"h3","iops":10}');
  });

  test('document A', () => {
    const template = compileValue({ client: '\\{\\{ .ID \\}\\}', mode: 'rw' });
    expect(['n1', 'n2'].map((ID) => JSON.stringify(template.render(instanceData({ ID }))))).toEqual([
      '{"client":"n1","mode":"rw"}',
      '{"client":"n2","mode":"rw"}',
    ]);
  });
});
