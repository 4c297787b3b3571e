import { expect, test } from 'vitest';
import { yamlHint } from './yaml-hint.ts';

test.each([
  ['a: \0', 3, 'remove this control character'],
  ['a: {{ .ID }} x', 13, 'quote a value with `{{`, or escape it as `\\{\\{ … \\}\\}`'],
  ['a:\n\tb: 1', 3, 'indent with spaces, not tabs'],
  ['a: "\\{x"', 6, 'between double quotes write `\\\\{`, or use single quotes'],
  ['a: @x', 3, 'quote a value that begins with `@`, `%` or a backquote'],
  ["a: 'x\nb: 1\n", 6, 'close what was opened before: a quote, `[` or `{`'],
  ['a: "\\""\nb: [1, # ]\nc: 1', 20, 'close what was opened before: a quote, `[` or `{`'],
  ['a: b: c', 4, 'quote a value that has `: ` in it'],
  ['a:\n  b:c\n  d: 1', 12, 'put a blank after the colon'],
  ['a: "x" # "\n    b: 1\n  c: 2', 22, 'check the indentation of this line against the lines above'],
  ["a: it's [\n  b: 1", 14, 'close what was opened before: a quote, `[` or `{`'],
  ['a: http://x/y\n   b', 18, 'check the indentation of this line against the lines above'],
])('%j at %i: %s', (text, offset, hint) => expect(yamlHint(text, offset)).toBe(hint));
