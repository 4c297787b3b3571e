import { describe, expect, test } from 'vitest';
import { compile, compileValue, TemplateError } from './index.ts';

const errorOf = (body: () => unknown): TemplateError => {
  try {
    body();
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error('no error, though one was expected');
};

const failure = (template: string, data: unknown = null): string =>
  errorOf(() => compile(template).render(data)).reason;

const STEPS = /more than 2000000 steps/;
const CHARACTERS = /more than 16777216 characters/;
const DEEP = /nested more than 1000 levels deep/;

describe('issue 3: hostile templates end in an error, never in a hang', () => {
  test.each([
    ['deep parentheses', `{{${'('.repeat(1e5)}1${')'.repeat(1e5)}}}`],
    ['deep blocks', '{{if true}}'.repeat(1e5)],
    ['a long else-if chain', `{{if false}}${'{{else if false}}'.repeat(5000)}{{end}}`],
  ])('%s are refused while parsing', (_name, template) => {
    const error = errorOf(() => compile(template));
    expect(error.kind).toBe('parse');
    expect(error.reason).toBe('nested more than 250 levels deep');
  });

  test('nesting within the limit still renders', () => {
    expect(compile(`{{${'('.repeat(200)}1${')'.repeat(200)}}}`).render(null)).toBe('1');
    expect(compile(`${'{{with .}}'.repeat(200)}{{.}}${'{{end}}'.repeat(200)}`).render('x')).toBe('x');
  });

  test.each([
    ['nested ranges', '{{range until 10000}}{{range until 10000}}{{end}}{{end}}', STEPS],
    ['a huge until', '{{len (until 1000000000)}}', STEPS],
    ['the largest until', '{{len (until 9223372036854775807)}}', STEPS],
    ['a huge untilStep', '{{len (untilStep 0 1000000000 1)}}', STEPS],
    ['a huge loop', '{{len (loop 1000000000)}}', STEPS],
    ['a list that doubles', '{{$x := list 1}}{{range until 99}}{{$x = concat $x $x}}{{end}}', STEPS],
    ['slicing for ever', '{{$x := until 99999}}{{range $x}}{{$y := slice $x 1}}{{end}}', STEPS],
    ['appending for ever', '{{$x := list}}{{range until 99999}}{{$x = append $x 1}}{{end}}', STEPS],
    ['a huge repeat', '{{repeat 1000000000 "x"}}', CHARACTERS],
    ['a huge indent', '{{indent 1000000000 "x"}}', CHARACTERS],
    ['a text that doubles', '{{$x := "ab"}}{{range until 99}}{{$x = print $x $x}}{{end}}', CHARACTERS],
    ['quotes that double', '{{$x := quote ""}}{{range until 99}}{{$x = quote $x}}{{end}}', CHARACTERS],
    ['many digits of each of many numbers', '{{printf "%.1000000d" (until 99999)}}', CHARACTERS],
    [
      'many digits of each of many fractions',
      '{{$x := list 1.5}}{{range until 99}}{{$x = append $x 1.5}}{{end}}{{printf "%.1000000f" $x}}',
      CHARACTERS,
    ],
    ['wide padding', '{{range until 99}}{{printf "%1000000d" 1}}{{end}}', CHARACTERS],
  ])('%s', (_name, template, reason) => {
    expect(failure(template)).toMatch(reason);
  });

  test('printf ignores a width beyond a million, as Go does', () => {
    expect(compile('{{printf "%999999999d" 1}}').render(null)).toBe('%!(NOVERB)%!(EXTRA int=1)');
  });

  test.each([
    [
      'a template that calls itself',
      '{{define "t"}}{{template "t"}}{{end}}{{template "t"}}',
      /call each other more than 250/,
    ],
    [
      'a text that includes itself',
      '{{var "x" "str://{{include (var `x`)}}"}}{{include (var "x")}}',
      /include each other more than 250/,
    ],
    [
      'a text that sources itself',
      '{{var "x" "str://{{source (var `x`)}}"}}{{source (var "x")}}',
      /include each other more than 250/,
    ],
  ])('%s', (_name, template, reason) => {
    expect(failure(template)).toMatch(reason);
  });

  test('templates that call each other twice, sixty levels deep', () => {
    const level = (i: number): string => `{{define "t${i}"}}{{template "t${i + 1}"}}{{template "t${i + 1}"}}{{end}}`;
    const levels = Array.from({ length: 60 }, (_, i) => level(i)).join('');
    expect(failure(`${levels}{{define "t60"}}{{end}}{{template "t0"}}`)).toMatch(STEPS);
  });

  test.each([
    ['printed', '{{$x}}'],
    ['formatted', '{{printf "%5v" $x}}'],
    ['encoded', '{{toJson $x}}'],
    ['encoded as YAML', '{{yamlEncode $x}}'],
    ['queried', '{{q "@" $x}}'],
    ['compared', '{{has $x (list (list $x))}}{{uniq (list $x (list $x $x) (list $x $x))}}'],
  ])('a list that holds itself twice, sixty levels deep, %s', (_name, use) => {
    expect(failure(`{{$x := list 1}}{{range until 60}}{{$x = list $x $x}}{{end}}${use}`)).toMatch(
      /more than \d+ (steps|characters)/,
    );
  });

  test.each(['{{$x}}', '{{toJson $x}}', '{{has $x (list (list $x))}}', '{{q "@" $x}}', '{{printf "%d" $x}}'])(
    'a list ten thousand levels deep: %s',
    (use) => {
      expect(failure(`{{$x := list 1}}{{range until 10000}}{{$x = list $x}}{{end}}${use}`)).toMatch(DEEP);
    },
  );

  test('a map that holds itself', () => {
    expect(failure('{{$d := dict}}{{$_ := set $d "a" $d}}{{$d}}')).toMatch(DEEP);
  });

  test('data that holds itself', () => {
    const data: Record<string, unknown> = {};
    data.self = data;
    expect(failure('{{.}}', data)).toMatch(DEEP);
    expect(failure('{{set . "a" 1}}', data)).toMatch(DEEP);
  });

  test('JSON and YAML that are nested too deeply', () => {
    expect(failure('{{jsonDecode (repeat 100000 "[")}}')).toMatch(DEEP);
    expect(failure('{{yamlDecode (repeat 100000 "[")}}')).toMatch(/maxDepth/);
    expect(compile('{{jsonDecode (print (repeat 900 "[") (repeat 900 "]"))}}').render(null)).toHaveLength(1800);
  });

  test('a YAML text whose aliases multiply', () => {
    const level = (name: string, of: string): string =>
      `${name}: &${name} [${Array.from({ length: 9 }, () => of).join(',')}]\n`;
    const bomb = level('a', 'x') + [...'bcdefgh'].map((name, i) => level(name, `*${'abcdefg'.charAt(i)}`)).join('');
    expect(failure('{{yamlDecode .}}', bomb)).toMatch(STEPS);
  });

  test('a JMESPath expression whose result multiplies, or that is nested too deeply', () => {
    expect(failure('{{q (print "@" (repeat 40 "|[@,@][]")) .}}', [1])).toMatch(/could be too large/);
    expect(failure('{{q (repeat 3900 "!") .}}', {})).toMatch(/q needs more memory or nesting|Invalid/);
    expect(failure('{{q (repeat 5000 "a") .}}', {})).toMatch(/longer than 4000/);
  });

  test('regular expressions take time linear in the text, or end in an error', () => {
    expect(compile('{{regexMatch "(x+x+)+y" (repeat 10000 "x")}}').render(null)).toBe('false');
    expect(failure('{{regexReplaceAll "(a?){1000}" (repeat 100000 "a") "b"}}')).toMatch(STEPS);
    expect(failure('{{regexMatch (repeat 3000 "(") ""}}')).toMatch(/longer than 2000/);
    expect(failure('{{regexFind "((a{100}){100}){100}" ""}}')).toMatch(/invalid repeat count/);
    expect(failure('{{semverCompare (print "1" (repeat 900 " ") "!") "1.0.0"}}')).toMatch(/improper constraint/);
  });

  test('numbers of a million digits', () => {
    expect(compile('{{int .}} {{float64 .}} {{atoi .}}').render('9'.repeat(1e6))).toBe('0 0 9223372036854775807');
    expect(errorOf(() => compile(`{{0x${'f'.repeat(1e6)}}}`)).reason).toMatch(/^illegal number syntax/);
  });

  test('a result that is too long', () => {
    expect(failure('x'.repeat(9 * 1024 * 1024))).toMatch(/longer than 8388608 characters/);
  });

  test('limits can be set', () => {
    const template = compile('{{range until 100}}x{{end}}', { limits: { steps: 50 } });
    expect(errorOf(() => template.render(null)).reason).toMatch(/more than 50 steps/);
  });

  test('a value that is nested too deeply to be rendered', () => {
    let value: unknown = 'x';
    for (let i = 0; i < 5000; i++) {
      value = [value];
    }
    expect(errorOf(() => compileValue(value)).reason).toMatch(DEEP);
  });
});

describe('keys that JavaScript objects inherit are keys like any other', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

  test.each(names)('%s as a field, key, query, variable, template and function', (name) => {
    expect(failure(`{{.${name}}}`, {})).toContain(`no entry for key "${name}"`);
    expect(compile(`{{hasKey . "${name}"}} {{get . "${name}"}}|{{index . "${name}"}}`).render({})).toBe(
      'false |<no value>',
    );
    expect(failure(`{{var "${name}"}}`)).toContain(`Missing variable ${name}`);
    expect(failure(`{{template "${name}"}}`)).toContain('not defined');
    const own = JSON.parse(`{"${name}": {"x": 1}}`) as unknown;
    expect(compile(`{{.${name}.x}} {{toJson .}} {{.}}`).render(own)).toBe(
      `1 {"${name}":{"x":1}} map[${name}:map[x:1]]`,
    );
    expect(compile(`{{(dict "${name}" 1).${name}}} {{toJson (set (dict) "${name}" 2)}}`).render(null)).toBe(
      `1 {"${name}":2}`,
    );
  });

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'valueOf'])('%s as a function', (name) => {
    expect(errorOf(() => compile(`{{${name}}}`)).reason).toContain(`function "${name}" not defined`);
  });

  test('JMESPath does not reach what objects inherit', () => {
    expect(compile('{{q "constructor" .}} {{q "__proto__" .}} {{q "toString" .}}').render({ a: {} })).toBe(
      '<no value> <no value> <no value>',
    );
  });

  test('nothing is set on the prototype of all objects', () => {
    compile(
      '{{$d := dict "__proto__" (dict "polluted" true)}}{{$_ := set $d "__proto__" (dict "polluted" true)}}',
    ).render(null);
    compile('{{$_ := set . "__proto__" (dict "polluted" true)}}{{.}}').render({});
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
