import { AppError } from '@infrakit/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { decode } from './decode.ts';
import { type Format, locate, readDocument, readDocuments } from './document.ts';
import { plain, type ValuePath } from './located.ts';
import { createPositions, type Position } from './position.ts';
import { toJson, toYaml } from './print.ts';
import type { Render } from './render.ts';
import { resolvePlain } from './yaml-scalar.ts';

const file = 'x.yml';
const hasProto = (value: unknown): boolean => JSON.stringify(value).includes('"__proto__":');
const jsonText = fc.json({ maxDepth: 5, stringUnit: 'binary' }).filter((text) => !hasProto(JSON.parse(text)));

describe('any JSON value comes back', () => {
  const back = (text: string, format: Format): unknown => plain(readDocument(text, { file, format }).root);

  test('as json', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(back(text, 'json')).toEqual(JSON.parse(text));
      }),
    );
  });

  test('as auto, when it is a list or a map', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(back(`[${text}]`, 'auto')).toEqual([JSON.parse(text)]);
        expect(back(`{"a": ${text}}`, 'auto')).toEqual({ a: JSON.parse(text) });
      }),
    );
  });

  test.each([true, false])('printed as JSON or YAML, keys sorted: %s', (sortKeys) => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }).filter((value) => !hasProto(value)),
        (value) => {
          const json: unknown = JSON.parse(JSON.stringify(value));
          expect(back(toJson(value, { sortKeys }), 'json')).toEqual(json);
          expect(back(toYaml(value, { sortKeys }), 'yaml')).toEqual(json);
        },
      ),
    );
  });
});

const piece = fc.constantFrom(
  ...[
    'kind',
    'a',
    'Size',
    ': ',
    ':',
    '\n',
    '\n  ',
    '\n    ',
    '- ',
    '? ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '"',
    "'",
    '|',
    '>-',
  ],
  ...[
    '&a ',
    '*a',
    '<<: ',
    '!!int ',
    '!x ',
    '---\n',
    '...\n',
    '%YAML 1.1\n',
    '#',
    '\t',
    '\r\n',
    '1',
    'yes',
    '.inf',
    '~',
    '\\',
    '\\{',
  ],
  ...[
    '{{',
    '}}',
    '\u0000',
    '\uFEFF',
    'é',
    '\u{1F600}',
    '\uD800',
    '__proto__',
    '@',
    '`',
    '%',
    '{"a":1}',
    '01',
    'null',
    '"\\u00',
  ],
);
const text = fc.oneof(
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary' }),
  jsonText,
);

const anything = z.strictObject({
  kind: z.string(),
  a: z.union([z.number(), z.array(z.lazy(() => anything)), z.record(z.string(), z.unknown())]).optional(),
  Size: z.number().int().min(0).max(5).optional(),
}) as z.ZodType;

test('whatever the text, reading and decoding end in a value or in an AppError whose problems have places in it', () => {
  fc.assert(
    fc.property(
      text,
      fc.constantFrom<Format>('auto', 'yaml', 'json'),
      fc.boolean(),
      (source, format, allowUnknownFields) => {
        const lines = source.split(/\r\n|\r|\n/).length;
        try {
          for (const document of readDocuments(source, {
            file,
            format,
            limits: { depth: 6, documents: 2, aliasedValues: 20 },
          })) {
            decode(document, anything, { allowUnknownFields });
          }
        } catch (thrown) {
          if (!(thrown instanceof AppError)) throw thrown;
          expect(['SPEC_INVALID', 'SPEC_UNREADABLE', 'SPEC_TOO_LARGE']).toContain(thrown.code);
          const problems = thrown.facts.problems as (Position & { message: string })[];
          expect(problems.length).toBeGreaterThan(0);
          for (const { line, column, message } of problems) {
            expect(line).toBeGreaterThanOrEqual(1);
            expect(line).toBeLessThanOrEqual(lines);
            expect(column).toBeGreaterThanOrEqual(1);
            expect(message).not.toMatch(/\p{Cc}/u);
          }
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

type Tree = string | number | boolean | null | Tree[] | { [key: string]: Tree };

// Short words such as `N`, `On` or `Yes` are booleans as keys, too.
const fieldName = fc.stringMatching(/^[A-Z][a-z]{1,5}$/).filter((name) => typeof resolvePlain(name) === 'string');

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { minLength: 1, maxLength: 4 }),
    fc.dictionary(fieldName, tie('tree'), { minKeys: 1, maxKeys: 4 }),
  ),
}));

/** Writes a tree as block or flow YAML with comments in between, and remembers where every scalar went. */
const write = (root: Tree, decide: () => number) => {
  const places: { path: ValuePath; offset: number }[] = [];
  let written = '';
  const put = (part: string) => {
    written += part;
  };
  const breakLine = (indent: number) =>
    put(`${decide() === 0 ? ' # a - "comment": x' : ''}\n${decide() === 1 ? '\n# more\n' : ''}${' '.repeat(indent)}`);
  const scalar = (value: string | number | boolean | null, path: ValuePath, isFlow: boolean) => {
    if (value === null && !isFlow && path.length > 0) return;
    places.push({ path, offset: written.length });
    const isSingle = typeof value === 'string' && decide() === 2 && /^[ -~]*$/.test(value);
    put(isSingle ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value));
  };
  const visit = (value: Tree, path: ValuePath, indent: number, isInFlow: boolean): void => {
    if (typeof value !== 'object' || value === null) {
      if (path.length > 0 && !isInFlow && value !== null) put(' ');
      scalar(value, path, isInFlow);
      return;
    }
    const isFlow = isInFlow || decide() === 3;
    const isList = Array.isArray(value);
    const children: [string | number, Tree][] = isList ? [...value.entries()] : Object.entries(value);
    if (isFlow) put(`${isInFlow ? '' : ' '}${isList ? '[' : '{'}`);
    for (const [index, [key, child]] of children.entries()) {
      const childPath = [...path, key];
      if (isFlow && index > 0) put(', ');
      if (!isFlow && (path.length > 0 || index > 0)) breakLine(indent);
      if (child === null && !isFlow) places.push({ path: childPath, offset: written.length });
      if (isFlow) put(isList ? '' : `${key}: `);
      else put(isList ? '-' : `${key}:`);
      visit(child, childPath, indent + 2, isFlow);
    }
    if (isFlow) put(isList ? ']' : '}');
  };
  visit(root, [], 0, false);
  put('\n');
  return { text: written, places };
};

const decisions = (numbers: readonly number[]) => {
  let next = 0;
  return () => {
    next += 1;
    return numbers[next % numbers.length] ?? 0;
  };
};

test('every scalar is located where it was written, also behind a hook that cuts text away', () => {
  const header = '{{/* cut\naway */}}\n';
  const cut: Render = (source) => {
    const positionOf = createPositions(source);
    return { text: source.slice(header.length), positionOf: (offset) => positionOf(offset + header.length) };
  };
  fc.assert(
    fc.property(tree, fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }), fc.boolean(), (root, numbers, isCut) => {
      const { text: yaml, places } = write(root, decisions(numbers));
      const source = isCut ? header + yaml : yaml;
      const document = readDocument(source, { file, format: 'yaml', ...(isCut ? { render: cut } : {}) });
      expect(plain(document.root)).toEqual(root);
      const positionOf = createPositions(source);
      for (const { path, offset } of places) {
        expect([path, locate(document, path)]).toEqual([path, positionOf(offset + (isCut ? header.length : 0))]);
      }
    }),
    { numRuns: 500 },
  );
});

describe('of a typed document', () => {
  const plugin = z.strictObject({ Plugin: z.string(), Properties: z.unknown().optional() });
  const schema = z.strictObject({
    Allocation: z.union([
      z.strictObject({ Size: z.number().int() }),
      z.strictObject({ LogicalIDs: z.array(z.string()) }),
    ]),
    Instance: plugin.extend({ Labels: z.record(z.string(), z.string()) }),
    Flavor: z.array(plugin).optional(),
  });
  const key = fc.string({ minLength: 1 }).filter((one) => one !== '__proto__');
  const pluginValue = { Plugin: fc.string(), Properties: fc.jsonValue().filter((value) => !hasProto(value)) };
  const value = fc.record({
    Allocation: fc.oneof(fc.record({ Size: fc.integer() }), fc.record({ LogicalIDs: fc.array(fc.string()) })),
    Instance: fc.record({ ...pluginValue, Labels: fc.dictionary(key, fc.string()) }),
    Flavor: fc.array(fc.record(pluginValue), { maxLength: 3 }),
  });

  const fields = /"(?:Allocation|Size|LogicalIDs|Instance|Flavor|Plugin|Properties|Labels)":/g;
  const renamed = (one: unknown, rename: (key: string) => string): unknown => {
    if (Array.isArray(one)) return one.map((item) => renamed(item, rename));
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(
      Object.entries(one).map(([name, inner]) => {
        const isFree = name === 'Properties' || name === 'Labels';
        return [
          JSON.stringify({ [name]: 0 }).match(fields) ? rename(name) : name,
          isFree ? inner : renamed(inner, rename),
        ];
      }),
    );
  };
  const decoded = (one: unknown, options = {}) => decode(readDocument(JSON.stringify(one), { file }), schema, options);

  test('the case of its fields does not matter, that of free-form keys is kept', () => {
    fc.assert(
      fc.property(value, fc.array(fc.boolean(), { minLength: 1 }), (one, uppers) => {
        let next = 0;
        const rename = (name: string) =>
          [...name]
            .map((letter) => (uppers[next++ % uppers.length] ? letter.toUpperCase() : letter.toLowerCase()))
            .join('');
        expect(decoded(renamed(one, rename)).value).toEqual(JSON.parse(JSON.stringify(one)));
      }),
    );
  });

  test('allowed unknown fields change nothing but the warnings', () => {
    fc.assert(
      fc.property(
        value,
        fc.jsonValue().filter((extra) => !hasProto(extra)),
        (one, extra) => {
          const more = { ...one, Colour: extra, Instance: { ...one.Instance, weight: extra } };
          const { value: kept, warnings } = decoded(more, { allowUnknownFields: true });
          expect(kept).toEqual(decoded(one).value);
          expect(warnings.map((warning) => warning.path).sort()).toEqual(['Colour', 'Instance.weight']);
          expect(() => decoded(more)).toThrow(/Colour: unknown field/);
        },
      ),
    );
  });
});
