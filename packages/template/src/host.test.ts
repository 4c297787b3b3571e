import { describe, expect, test } from 'vitest';
import { type CompileOptions, compile, type LoadRequest, TemplateError } from './index.ts';

const render = (template: string, options: CompileOptions = {}, data: unknown = null): string =>
  compile(template, options).render(data);

const counting = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 37 + 11) % 256);

describe('GP §5.2, EI-E17: templates see of the world what they are given', () => {
  test.each([
    ['{{ now }}', /there is no clock here/],
    ['{{ unixtime }}', /there is no clock here/],
    ['{{ date "2006" nil }}', /there is no clock here/],
    ['{{ randAlpha 3 }}', /there is no source of random numbers here/],
    ['{{ uuidv4 }}', /there is no source of random numbers here/],
    ['{{ env "HOME" }}', /environment variables cannot be read here/],
    ['{{ expandenv "$HOME" }}', /environment variables cannot be read here/],
    ['{{ include "a.tpl" }}', /a.tpl cannot be read here/],
    ['{{ fetch "http://x/y" }}', /http:\/\/x\/y cannot be read here/],
    ['{{ genPrivateKey "rsa" }}', /private keys cannot be made here/],
    ['{{ derivePassword 1 "long" "p" "u" "s" }}', /there is no scrypt here/],
  ])('%s says what is missing', (template, reason) => {
    expect(() => render(template)).toThrow(TemplateError);
    expect(() => render(template)).toThrow(reason);
  });

  test('echo goes nowhere, or to the host', () => {
    const lines: string[] = [];
    expect(render('a{{ echo "x" 1 }}b')).toBe('ab');
    expect(render('a{{ echo "x" 1 }}b', { echo: (line) => lines.push(line) })).toBe('ab');
    expect(lines).toEqual(['x 1']);
  });

  test('clock: now and dates, the local zone is UTC', () => {
    const clock = () => Date.UTC(2024, 1, 29, 13, 4, 5, 678);
    expect(render('{{ now }}', { clock })).toBe('2024-02-29 13:04:05.678 +0000 UTC');
    expect(render('{{ unixtime }} {{ now.Year }} {{ now.Unix }} {{ now.Format "Jan 2" }}', { clock })).toBe(
      '1709211845 2024 1709211845 Feb 29',
    );
    expect(
      render('{{ now | date "2006-01-02 15:04" }} {{ htmlDate now }} {{ dateModify "-24h" now | htmlDate }}', {
        clock,
      }),
    ).toBe('2024-02-29 13:04 2024-02-29 2024-02-28');
    expect(render('{{ dateInZone "15:04 -0700" now "Europe/Berlin" }}', { clock })).toBe('14:04 +0100');
  });

  test('random: lengths, alphabets and shapes', () => {
    const options = { random: counting };
    expect(render('{{ randAlpha 12 }}', options)).toMatch(/^[A-Za-z]{12}$/);
    expect(render('{{ randNumeric 5 }}{{ randAlphaNum 5 }}{{ randAscii 5 }}', options)).toMatch(
      /^\d{5}[A-Za-z0-9]{5}[ -~]{5}$/,
    );
    expect(render('{{ uuidv4 }}', options)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(render('{{ b64dec (randBytes 9) | len }} {{ randInt 3 4 }}', options)).toBe('9 3');
  });

  test('env: variables, missing ones are empty', () => {
    const env = (name: string) => ({ A: 'x', B_1: 'y' })[name];
    expect(render('{{ env "A" }}{{ env "C" }} {{ expandenv "$A ${B_1} $C." }}', { env })).toBe('x x y .');
  });

  test('private keys and derived passwords come by means of the host', () => {
    expect(render('{{ genPrivateKey "ed25519" }}', { privateKey: (type) => `PEM ${type}` })).toBe('PEM ed25519');
    const scrypt = ({ length }: { length: number }) => new Uint8Array(length);
    expect(render('{{ derivePassword 1 "pin" "p" "u" "s" }}', { scrypt })).toMatch(/^\d{4}$/);
    expect(render('{{ derivePassword 1 "none" "p" "u" "s" }}', { scrypt })).toBe('cannot find password template none');
  });
});

describe('include, source, fetch and raw', () => {
  const files: Readonly<Record<string, string>> = {
    'specs/part.tpl': 'part of {{ .a }}{{ include "deeper/x.tpl" . }}',
    'specs/deeper/x.tpl': ' and {{ include "../y.tpl" }}',
    'specs/y.tpl': 'y {{ .a }}',
    'http://h/a/b.tpl': '{{ include "c.tpl" }}',
    'http://h/a/c.tpl': 'remote',
    '/abs.tpl': 'absolute',
    'specs/set.tpl': '{{ var "v" "set" }}',
  };
  const asked: LoadRequest[] = [];
  const loader = (request: LoadRequest): string => {
    asked.push(request);
    const text = files[request.url];
    if (text === undefined) {
      throw new Error(`no such file: ${request.url}`);
    }
    return text;
  };
  const options = { loader, url: 'specs/main.yml' };

  test('addresses are relative to the template that includes', () => {
    expect(render('{{ include "part.tpl" . }}', options, { a: 1 })).toBe('part of 1 and y 1');
    expect(render('{{ include "./deeper/../y.tpl" . }}', options, { a: 1 })).toBe('y 1');
    expect(render('{{ include "http://h/a/b.tpl" }} {{ include "/abs.tpl" }}', options)).toBe('remote absolute');
  });

  test('include keeps its variables to itself, source sets ours', () => {
    expect(render('{{ include "set.tpl" }}{{ var "v" }}', { ...options, missingKey: 'default' })).toBe('<no value>');
    expect(render('{{ source "set.tpl" }}{{ var "v" }}', options)).toBe('set');
  });

  test('fetch and raw give the text as it is, with headers', () => {
    expect(
      render('{{ fetch "y.tpl" "accept=text/plain" "accept=x" }}|{{ raw "y.tpl" }}|{{ raw "str://{{ x }}" }}', options),
    ).toBe('y {{ .a }}|y {{ .a }}|{{ x }}');
    expect(asked.at(-2)).toEqual({ url: 'specs/y.tpl', via: 'fetch', headers: { accept: ['text/plain', 'x'] } });
  });

  test('what the loader throws is an error at the action', () => {
    expect(() => render('a\n{{ include "none" }}', options)).toThrow(
      'template:2:3: error calling include: no such file: specs/none',
    );
  });

  test('errors in a loaded template name its address and place', () => {
    expect(() => render('{{ include "y.tpl" }}', options, {})).toThrow(
      'template:1:3: error calling include: specs/y.tpl:1:5: map has no entry for key "a"',
    );
  });

  test('renderAsync waits; render refuses a promise', async () => {
    const slow = { ...options, loader: async (request: LoadRequest) => loader(request) };
    const template = compile('{{ include "part.tpl" . }} {{ include "y.tpl" . }}', slow);
    expect(await template.renderAsync({ a: 2 })).toBe('part of 2 and y 2 y 2');
    expect(() => template.render({ a: 2 })).toThrow(/render with renderAsync/);
  });

  test('a promise that is broken is an error at the action', async () => {
    const template = compile('x{{ include "none" }}', { loader: async () => Promise.reject(new Error('offline')) });
    await expect(template.renderAsync(null)).rejects.toThrow('template:1:4: error calling include: offline');
    await expect(template.renderAsync(null)).rejects.toBeInstanceOf(TemplateError);
  });

  test('each thing is asked for once, and echo speaks once', async () => {
    const urls: string[] = [];
    const lines: string[] = [];
    const template = compile('{{ echo "hi" }}{{ include "a" }}{{ include "b" }}{{ include "a" }}', {
      loader: async ({ url }) => {
        urls.push(url);
        return url;
      },
      echo: (line) => lines.push(line),
    });
    expect(await template.renderAsync(null)).toBe('aba');
    expect([urls, lines]).toEqual([['a', 'b'], ['hi']]);
  });
});

describe('functions of the caller', () => {
  test('get plain values and give plain values', () => {
    const seen: unknown[] = [];
    const functions = {
      see: (...args: readonly unknown[]) => {
        seen.push(...args);
        return { n: 1.5, big: 7n, list: [null, 'x'] };
      },
    };
    const template =
      '{{ $r := see 1 2.5 "a" nil (list 1 (dict "k" true)) . }}{{ $r.n }} {{ eq $r.big 7 }} {{ $r.list }}';
    expect(render(template, { functions }, { d: [1] })).toBe('1.5 true [<nil> x]');
    expect(seen).toEqual([1, 2.5, 'a', null, [1, { k: true }], { d: [1] }]);
  });

  test('what they throw is an error that names them', () => {
    const functions = {
      metadata: () => {
        throw new Error('no such path');
      },
    };
    expect(() => render('{{ metadata "x/y" }}', { functions })).toThrow(
      'template:1:3: error calling metadata: no such path',
    );
  });

  test('may give a promise to renderAsync', async () => {
    const functions = { metadata: async (path: unknown) => `<${String(path)}>` };
    const template = compile('{{ metadata "a" }}{{ metadata "b" | upper }}', { functions });
    expect(await template.renderAsync(null)).toBe('<a><B>');
    expect(() => template.render(null)).toThrow(/render with renderAsync/);
  });

  test('names that no template can spell are refused', () => {
    expect(() => compile('', { functions: { 'a-b': () => '' } })).toThrow(TypeError);
  });
});

describe('GP §5.2: variables and passes', () => {
  test('bigints are whole numbers, numbers are floats', () => {
    const vars = { size: 3n, ratio: 3 };
    expect(compile('{{ eq (var "size") 3 }} {{ eq (var "ratio") 3.0 }}').render(null, { vars })).toBe('true true');
  });

  test('a value in the template is the default of later uses; the variables given are not changed', () => {
    const vars = { list: { a: 1 } };
    const template = compile(
      '{{ var `name` `default` }}{{ var `name` }}{{ $_ := set (var `list`) `b` 2 }}{{ var `list` }}',
    );
    expect(template.render(null, { vars })).toBe('defaultmap[a:1 b:2]');
    expect(vars).toEqual({ list: { a: 1 } });
  });

  test('in one of several passes an unset variable yields itself', () => {
    const first = compile('{{ var "a" }} {{ var "b" }}', { multiPass: true }).render(null, { vars: { a: 1 } });
    expect(first).toBe('1 {{ var `b` }}');
    expect(compile(first).render(null, { vars: { b: 2 } })).toBe('1 2');
  });
});
