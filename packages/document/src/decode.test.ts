import { AppError, Duration, GroupProperties, OptionalDuration, Spec } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type DecodeOptions, decode } from './decode.ts';
import { readDocument } from './document.ts';

const read = (text: string) => readDocument(text, { file: 'x.yml' });
const decodeText = <S extends z.ZodType>(text: string, schema: S, options?: DecodeOptions) =>
  decode(read(text), schema, options).value;
const linesOf = (text: string, schema: z.ZodType, options?: DecodeOptions): string[] => {
  try {
    decode(read(text), schema, options);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'SPEC_INVALID') return thrown.message.split('\n');
    throw thrown;
  }
  return [];
};

describe('fields match exactly first, then in any case (EI §0.1)', () => {
  const plugin = z.strictObject({ Plugin: z.string() });

  test.each([
    ['optional', plugin.optional()],
    ['nullable', plugin.nullable()],
    ['nullish with default', plugin.nullish().default(null)],
    ['prefault', plugin.prefault({ Plugin: 'x' })],
    ['readonly', plugin.readonly()],
    ['catch', plugin.catch({ Plugin: 'caught' })],
    ['nonoptional', plugin.optional().nonoptional()],
    ['lazy', z.lazy(() => plugin)],
    ['refined', plugin.refine((value) => value.Plugin === 'a')],
    ['transformed', plugin.transform((value) => value)],
    ['piped', plugin.pipe(z.object({ Plugin: z.string() }))],
    ['preprocessed', z.preprocess((value) => value, plugin)],
    ['union', z.union([z.string(), z.array(plugin), plugin])],
    ['discriminated union', z.discriminatedUnion('Plugin', [z.strictObject({ Plugin: z.literal('a') })])],
    ['intersection', z.intersection(plugin, z.object({}))],
    ['loose object', z.looseObject({ Plugin: z.string() })],
  ])('through a schema that is %s', (_, schema) => {
    expect(decodeText('outer:\n  pLUGIN: a\n', z.strictObject({ Outer: schema }))).toEqual({ Outer: { Plugin: 'a' } });
  });

  test('in lists, tuples and the values of free-form maps, whose keys stay', () => {
    const schema = z.strictObject({
      List: z.array(plugin),
      Pair: z.tuple([plugin], plugin),
      Map: z.record(z.string(), plugin),
    });
    const text =
      '{list: [{plugin: a}], PAIR: [{plugin: b}, {plugin: c}], map: {Plugin: {plugin: d}, plugin: {PLUGIN: e}}}';
    expect(decodeText(text, schema)).toEqual({
      List: [{ Plugin: 'a' }],
      Pair: [{ Plugin: 'b' }, { Plugin: 'c' }],
      Map: { Plugin: { Plugin: 'd' }, plugin: { Plugin: 'e' } },
    });
  });

  test('opaque values, tags and labels are kept as written', () => {
    const schema = z.strictObject({ Tags: z.record(z.string(), z.string()), Properties: z.unknown() });
    const text =
      'tags: {Tier: a, tier: b, PROPERTIES: c}\nproperties: {tags: {}, Tags: [], "10": null, constructor: x}\n';
    expect(decodeText(text, schema)).toEqual({
      Tags: { Tier: 'a', tier: 'b', PROPERTIES: 'c' },
      Properties: { tags: {}, Tags: [], 10: null, constructor: 'x' },
    });
  });

  test('two fields of a schema that differ in case only each take their own spelling', () => {
    const schema = z.strictObject({ size: z.number(), Size: z.number() });
    expect(decodeText('Size: 1\nsize: 2', schema)).toEqual({ size: 2, Size: 1 });
  });

  test('the fields of all kinds of names that objects inherit are unknown', () => {
    const schema = z.strictObject({ a: z.number().optional() });
    expect(linesOf('toString: 1\nconstructor: 2\nvalueOf: 3', schema)).toHaveLength(3);
  });

  test('of a discriminated union the named option decides, in any case', () => {
    const schema = z.discriminatedUnion('Kind', [
      z.strictObject({ Kind: z.literal('a'), Size: z.number() }),
      z.strictObject({ Kind: z.literal('b'), Count: z.number() }),
    ]);
    expect(decodeText('kind: b\ncount: 1', schema)).toEqual({ Kind: 'b', Count: 1 });
    expect(linesOf('kind: b\nsize: 1\nCount: 2', schema)).toEqual([
      'x.yml:2:1: size: unknown field, known are `Kind`, `Count`: remove it',
    ]);
  });
});

describe('unknown fields (DESIGN §5)', () => {
  const schema = z.strictObject({ Size: z.number(), Inner: z.object({ a: z.number() }).optional() });
  const text = 'Size: 1\nSzie: 2\ninner: {a: 1, b: 2}\n';

  test('are errors, in z.object too', () => {
    expect(linesOf(text, schema)).toEqual([
      'x.yml:2:1: Szie: unknown field, did you mean `Size`?',
      'x.yml:3:15: Inner.b: unknown field, did you mean `a`?',
    ]);
  });

  test('are warnings where allowed, and left out of the value', () => {
    const { value, warnings } = decode(read(text), schema, { allowUnknownFields: true });
    expect(value).toEqual({ Size: 1, Inner: { a: 1 } });
    expect(warnings).toEqual([
      { file: 'x.yml', line: 2, column: 1, path: 'Szie', message: 'unknown field, did you mean `Size`?' },
      { file: 'x.yml', line: 3, column: 15, path: 'Inner.b', message: 'unknown field, did you mean `a`?' },
    ]);
  });

  test('a misspelt required field is told once; where unknown fields are allowed it is missing (EI-E3)', () => {
    expect(linesOf('Sise: 1', schema)).toEqual(['x.yml:1:1: Sise: unknown field, did you mean `Size`?']);
    expect(linesOf('Sise: 1', schema, { allowUnknownFields: true })).toEqual([
      'x.yml:1:1: Size: missing, expected a number: add it',
    ]);
  });

  test('a wrong value is told beside a misspelling of its name', () => {
    expect(linesOf('Size: x\nSise: 1', schema)).toEqual([
      'x.yml:1:7: Size: expected a number, found "x"',
      'x.yml:2:1: Sise: unknown field, did you mean `Size`?',
    ]);
  });

  test('of two near names the one that is not given yet is meant', () => {
    const near = z.strictObject({ Host: z.string(), Post: z.string().optional() });
    expect(linesOf('Host: a\nCost: b', near)).toEqual(['x.yml:2:1: Cost: unknown field, did you mean `Post`?']);
  });

  test('a misspelling does not hide a missing field of the same name deeper down', () => {
    const deep = z.strictObject({ Size: z.number(), Inner: z.strictObject({ Size: z.number() }) });
    expect(linesOf('Sise: 1\nInner: {}', deep)).toEqual([
      'x.yml:1:1: Sise: unknown field, did you mean `Size`?',
      'x.yml:2:1: Inner.Size: missing, expected a number: add it',
    ]);
  });

  test('are kept where one side of an intersection takes any', () => {
    const both = z.intersection(z.looseObject({ Size: z.number() }), z.looseObject({}));
    expect(decodeText('size: 1\nother: 2', both)).toEqual({ Size: 1, other: 2 });
  });

  test('are kept where the schema takes any', () => {
    const rest = z.object({ Size: z.number() }).catchall(z.strictObject({ A: z.number() }));
    expect(decodeText('size: 1\nother: {a: 2}', rest)).toEqual({ Size: 1, other: { A: 2 } });
  });
});

describe('a part of a document', () => {
  test('decodes with the paths and positions of the whole', () => {
    const spec =
      'kind: group\nmetadata: {name: a}\nPROPERTIES:\n  allocation: {size: -1}\n  instance: {plugin: a}\n  flavor: {plugin: b}\n';
    expect(decodeText(spec, Spec).kind).toBe('group');
    expect(linesOf(spec, GroupProperties, { at: ['properties'] })).toEqual([
      'x.yml:4:22: properties.Allocation.Size: expected at least 0, found the number -1',
    ]);
    expect(linesOf('a: {b: 1}', GroupProperties, { at: ['a', 'properties'] })).toEqual([
      'x.yml:1:1: a.properties: missing: add it',
    ]);
  });
});

describe('values', () => {
  test('come out of transforms, defaults and codecs', () => {
    const schema = z.strictObject({ Every: Duration, Quiet: OptionalDuration, Policy: z.string().default('sync') });
    expect(decodeText('every: 1m30s', schema)).toEqual({ Every: 90_000, Policy: 'sync' });
    expect(linesOf('every: 5', schema)).toEqual([
      expect.stringMatching(/^x\.yml:1:8: Every: .*missing unit in duration/),
    ]);
  });

  test('a message of the schema itself is told as it is, from a refinement, a type or a union', () => {
    const schema = z.strictObject({
      a: z.number().refine((value) => value > 1, 'a must be more than one'),
      b: z.string({ error: 'b is text' }),
      c: z.union([z.string(), z.array(z.string())], { error: 'no list source specified' }),
    });
    expect(linesOf('a: 1\nb: 2\nc: 3', schema)).toEqual([
      'x.yml:1:4: a: a must be more than one',
      'x.yml:2:4: b: b is text',
      'x.yml:3:4: c: no list source specified',
    ]);
  });

  test('an option of a union may have the message, and so may a rule about a field that is not there', () => {
    const union = z.strictObject({ c: z.union([z.string({ error: 'c is text' }), z.array(z.string())]) });
    expect(linesOf('c: 3', union)).toEqual(['x.yml:1:4: c: c is text']);
    const rule = z.strictObject({ a: z.number(), b: z.number().optional() }).superRefine((value, context) => {
      if (value.b === undefined) context.addIssue({ code: 'custom', path: ['b'], message: 'a needs b' });
    });
    expect(linesOf('a: 1', rule)).toEqual(['x.yml:1:1: b: a needs b']);
  });

  test('two uses of an alias share no object', () => {
    const blob = z.unknown();
    const [first, second] = decodeText('[&a {b: 1}, *a]', z.tuple([blob, blob]));
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });

  test('of free-form maps with fixed keys are refused by key', () => {
    const schema = z.partialRecord(z.enum(['left', 'right']), z.number());
    expect(decodeText('left: 1', schema)).toEqual({ left: 1 });
    expect(linesOf('left: 1\nup: 2', schema)).toHaveLength(1);
  });
});
