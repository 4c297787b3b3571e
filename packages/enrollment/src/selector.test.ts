import { describe, expect, test } from 'vitest';
import { byId, compileSelector } from './selector.ts';

const entry = (over: object = {}) => ({ ID: 'h3', LogicalID: null, Tags: null, ...over });
const keyOf = (text: string, over: object = {}) => compileSelector(text, 'SourceKeySelector')(entry(over));
const known = (value: string) => ({ kind: 'known', value });

describe('EI §1.6, §1.7: keys', () => {
  test('without a selector the ID is the key', () => {
    expect(byId(entry())).toEqual(known('h3'));
  });

  test.each([
    ['escaped as in YAML', '\\{\\{ .ID \\}\\}', {}, 'h3'],
    ['escaped as in JSON text', '\\\\{\\\\{ .ID \\\\}\\\\}', {}, 'h3'],
    ['not escaped', '{{ .ID }}', {}, 'h3'],
    ['a tag', '{{ .Tags.name }}', { Tags: { name: 'n' } }, 'n'],
    ['a logical ID', '{{ .LogicalID }}', { LogicalID: '10.0.0.1' }, '10.0.0.1'],
    [
      'a number of the properties by int',
      '{{ $p := .Properties | jsonDecode }}{{ int $p.slot }}',
      { Properties: { slot: 21_000_000 } },
      '21000000',
    ],
    ['blanks around it do not count', ' {{ .ID }}\n', {}, 'h3'],
  ])('%s', (_, text, over, value) => {
    expect(keyOf(text, over)).toEqual(known(value));
  });

  test.each([
    ['E-12: a missing tag by index', '{{ index .Tags "rack" }}', { Tags: {} }, 'no value for key'],
    ['E-12: blanks alone', '{{ index .Tags "rack" }}', { Tags: { rack: '  ' } }, 'no value for key'],
    ['E-13: no logical ID', '{{ .LogicalID }}', {}, '<nil>'],
    ['E-13: no logical ID, with something before it', 'rack-{{ .LogicalID }}', {}, '<nil>'],
    ['E-13: a JSON null', '{{ $p := .Properties | jsonDecode }}{{ $p.a }}', { Properties: { a: null } }, '<no value>'],
    ['a missing tag', '{{ .Tags.name }}', { Tags: {} }, 'name'],
    ['no properties to decode', '{{ $p := .Properties | jsonDecode }}{{ $p.slot }}', {}, 'jsonDecode'],
    ['a field that is not there', '{{ .Nope }}', {}, 'Nope'],
  ])('%s gives no key, and says why', (_, text, over, reason) => {
    const key = keyOf(text, over);
    expect(key.kind).toBe('unknown');
    expect(key.kind === 'unknown' && key.reason).toContain(reason);
  });

  test.each(['now', 'unixtime', 'uuidv4', 'env "HOME"', 'include "x"', 'fetch "x"', 'randAlphaNum 3'])(
    'E-17: %s is refused when it is compiled',
    (call) => {
      expect(() => compileSelector(`{{ ${call} }}`, 'SourceKeySelector')).toThrow(/is not allowed in a key selector/);
    },
  );

  test('E-18: the key of an entry is rendered once', () => {
    const select = compileSelector('{{ .ID }}', 'SourceKeySelector');
    const one = entry();
    expect(select(one)).toBe(select(one));
  });
});
