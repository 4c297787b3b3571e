import { readFileSync, writeFileSync } from 'node:fs';
import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { decode } from './decode.ts';
import { type Format, readDocuments } from './document.ts';
import type { Limits } from './limits.ts';
import { createPositions } from './position.ts';
import type { Render } from './render.ts';

const pluginName = z.string({ error: ({ input }) => `bad-format-for-name:${JSON.stringify(input)}` });
const duration = z.string().transform((text, context) => {
  if (/^-?(?:\d+(?:ns|us|ms|s|m|h))+$/.test(text)) return text;
  context.addIssue({ code: 'custom', message: `missing unit in duration ${text}: write for example 5s` });
  return z.NEVER;
});
const tags = z.record(z.string(), z.string());
const plugin = z.strictObject({ Plugin: pluginName, Properties: z.unknown().optional() });
const metadata = z.strictObject({ name: z.string().min(1), tags: tags.optional() });
const properties = z.strictObject({
  Allocation: z.union([
    z.strictObject({ Size: z.number().int().nonnegative() }),
    z.strictObject({ LogicalIDs: z.array(z.string()).min(1) }),
  ]),
  Instance: plugin,
  Flavor: plugin,
  Updating: z
    .strictObject({
      Count: z.number().int().optional(),
      Duration: duration.optional(),
      SkipBeforeInstanceDestroy: z.enum(['drain']).optional(),
    })
    .optional(),
});
const member = z.strictObject({ ID: z.string(), LogicalID: z.string().nullable().optional(), Tags: tags.optional() });
const route = z.strictObject({
  Port: z.number().int().min(1).max(65535),
  Protocol: z.enum(['tcp', 'http', 'https']),
  Weight: z.number().multipleOf(5).optional(),
});

const schemas = {
  group: z.strictObject({ kind: z.literal('group'), version: z.string().optional(), metadata, properties }),
  legacy: z.strictObject({ ID: z.string(), Properties: properties }),
  enrollment: z.strictObject({
    kind: z.literal('enrollment'),
    metadata,
    properties: z.strictObject({
      List: z.union([z.array(member), z.string().regex(/^[^/]+\/.+$/)]),
      Instance: plugin.extend({ Labels: tags.nullish() }),
    }),
    options: z
      .strictObject({
        SourceKeySelector: z.string().optional(),
        SourceParseErrPolicy: z.enum(['EnableDestroy', 'DisableDestroy']).optional(),
        SyncInterval: duration.optional(),
        DestroyOnTerminate: z.boolean().optional(),
      })
      .optional(),
  }),
  ingress: z.strictObject({
    kind: z.literal('ingress'),
    metadata,
    properties: z.array(z.strictObject({ Routes: z.array(route).max(2) })),
  }),
  rule: z.discriminatedUnion('Type', [
    z.strictObject({ Type: z.literal('mirror'), Topic: z.string() }),
    z.strictObject({ Type: z.literal('drop'), Filter: z.string() }),
  ]),
};

/** Removes `{{/* … *\/}}` comments, keeping the way back; a call of anything is an unknown function. */
const render: Render = (source) => {
  const comments = [...source.matchAll(/\{\{\/\*.*?\*\/\}\}/gs)];
  const toPosition = createPositions(source);
  const call = /\{\{\s*(\w+)/.exec(source);
  if (call) {
    throw Object.assign(new Error(`function "${call[1]}" is not defined: check its spelling`), toPosition(call.index));
  }
  const text = source.replace(/\{\{\/\*.*?\*\/\}\}/gs, '');
  const positionOf = (offset: number) =>
    toPosition(comments.reduce((at, comment) => (comment.index <= at ? at + comment[0].length : at), offset));
  return { text, positionOf };
};

interface Case {
  readonly title: string;
  readonly words: readonly string[];
  readonly document: string;
  readonly says: string;
}

/** A case of the file: `=== title | schema, format, options`, the document, `>>>`, what it gets, an empty line. */
const parseCases = (text: string): Case[] =>
  text
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [head = '', ...rest] = block.split('\n');
      const [title = '', words = ''] = head.split(' | ');
      const [document = '', says = ''] = rest.join('\n').split(/^>>>\n?/m);
      return { title, words: words.split(' '), document, says: says.trimEnd() };
    });

const formatCases = (cases: readonly Case[]): string =>
  cases
    .map(({ title, words, document, says }) => `=== ${title} | ${words.join(' ')}\n${document}>>>\n${says}\n`)
    .join('\n');

const limits: Partial<Limits> = { bytes: 700, depth: 8, aliasedValues: 50, documents: 3 };

const isFormat = (word: string | undefined): word is Format => word === 'yaml' || word === 'json' || word === 'auto';

const judge = ({ words: [name = '', format, ...options], document }: Case): string => {
  const schema = Object.entries(schemas).find(([one]) => one === name)?.[1];
  if (schema === undefined || !isFormat(format)) throw new Error(`unknown schema or format: ${name} ${format}`);
  const text = document
    .replaceAll('<TAB>', '\t')
    .replaceAll('<NUL>', '\0')
    .replaceAll('<BOM>', '\uFEFF')
    .replaceAll('<CR>', '\r');
  const file = format === 'json' ? 'bad.json' : 'bad.yml';
  const hook = options.includes('render') ? { render } : {};
  try {
    const documents = readDocuments(text, { file, format, limits, ...hook });
    for (const one of documents) decode(one, schema, { allowUnknownFields: options.includes('allow') });
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    return `${thrown.code}\n${thrown.message}`;
  }
};

describe('bad documents get a sentence that says where, what and what to do (DESIGN §5, EI §0.1, GP §5.2)', () => {
  const path = new URL('./golden/bad-documents.txt', import.meta.url);
  const cases = parseCases(readFileSync(path, 'utf8'));
  if (process.env.UPDATE === '1') writeFileSync(path, formatCases(cases.map((one) => ({ ...one, says: judge(one) }))));

  test('there are at least 45, each with its own title', () => {
    expect(new Set(cases.map((one) => one.title)).size).toBe(cases.length);
    expect(cases.length).toBeGreaterThanOrEqual(45);
  });

  test.each(parseCases(readFileSync(path, 'utf8')))('$title', (one) => {
    expect(one.says).toMatch(/^SPEC_/);
    expect(judge(one)).toBe(one.says);
  });
});
