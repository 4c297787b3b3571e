import { describe, expect, test } from 'vitest';
import { compile, TemplateError } from './index.ts';

const refused = (template: string): TemplateError => {
  try {
    compile(template, { deterministic: true });
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error(`${template} was not refused`);
};

describe('EI §1.6 [WANT], EI-E17: key selectors are deterministic', () => {
  test.each([
    ...['now', 'unixtime', 'uuidv4', 'genPrivateKey', 'env', 'expandenv', 'fetch', 'include', 'source', 'raw'],
    ...['randAlphaNum', 'randAlpha', 'randAscii', 'randNumeric', 'randBytes', 'randInt', 'shuffle'],
  ])('%s is refused when the selector is compiled', (name) => {
    const error = refused(`key\n{{if .x}}{{ "a" | ${name} }}{{end}}`);
    expect(error.kind).toBe('parse');
    expect(error.line).toBe(2);
    expect(error.column).toBe(18);
    expect(error.offendingName).toBe(name);
    expect(error.reason).toContain(`function "${name}" is not allowed in a key selector`);
  });

  test('a refused function is refused in a definition and in an argument too', () => {
    expect(refused('{{define "t"}}{{now}}{{end}}').offendingName).toBe('now');
    expect(refused('{{print (env "X")}}').offendingName).toBe('env');
  });

  test('the other functions stay', () => {
    const selector = compile('{{ .ID | upper | sha256sum | trunc 4 }}{{ var "x" 1 }}', { deterministic: true });
    expect(selector.render({ ID: 'a' })).toBe('559a');
  });

  test('a clock that is given is not seen', () => {
    const selector = compile('{{ date "2006" "no date" }}', { deterministic: true, clock: () => 0 });
    expect(() => selector.render(null)).toThrow(/there is no clock here/);
  });

  test('functions of the caller are the caller’s concern', () => {
    expect(compile('{{ now }}', { deterministic: true, functions: { now: () => 'fixed' } }).render(null)).toBe('fixed');
  });
});
