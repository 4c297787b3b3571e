import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { compile, instanceData, TemplateError, unescape as unescapeBraces } from './index.ts';
import type { InstanceDescription } from './instance-data.ts';
import type { MissingKey } from './run.ts';

interface Expected {
  readonly output?: string;
  readonly error?: {
    readonly kind: 'parse' | 'exec';
    readonly line: number;
    readonly column?: number;
    readonly mentions?: readonly string[];
  };
}

interface Vector extends Expected {
  readonly name?: string;
  readonly group?: string;
  readonly template: string;
  readonly unescape?: boolean;
  readonly data?: unknown;
  readonly dataType?: 'instance';
  readonly missingkey?: MissingKey;
  readonly vars?: Readonly<Record<string, unknown>>;
  readonly multiPass?: boolean;
  readonly compare?: 'yaml';
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8'));

const vectors = fixture('vectors.json') as readonly Vector[];
const goCases = fixture('go-cases.json') as { readonly sample: unknown; readonly cases: readonly Vector[] };

const dataOf = (vector: Vector): unknown =>
  vector.dataType === 'instance' ? instanceData(vector.data as InstanceDescription) : (vector.data ?? null);

const render = (vector: Vector): string =>
  compile(vector.unescape === true ? unescapeBraces(vector.template) : vector.template, {
    name: 'spec',
    missingKey: vector.missingkey,
    multiPass: vector.multiPass,
  }).render(dataOf(vector), { vars: vector.vars });

const errorOf = (vector: Vector): TemplateError => {
  try {
    render(vector);
  } catch (error) {
    expect(error).toBeInstanceOf(TemplateError);
    return error as TemplateError;
  }
  throw new Error('the template was rendered, an error was expected');
};

const check = (vector: Vector): void => {
  if (vector.error === undefined) {
    const output = render(vector);
    if (vector.compare === 'yaml') {
      expect(load(output)).toEqual(load(vector.output ?? ''));
    } else {
      expect(output).toBe(vector.output);
    }
    return;
  }
  const error = errorOf(vector);
  expect({ kind: error.kind, line: error.line }).toEqual({ kind: vector.error.kind, line: vector.error.line });
  if (vector.error.column !== undefined) {
    expect(error.column).toBe(vector.error.column);
  }
  for (const name of vector.error.mentions ?? []) {
    expect(error.message).toContain(name);
  }
};

describe('cases/template: results of the real Go implementation', () => {
  test('all 736 vectors are here', () => {
    expect(vectors).toHaveLength(736);
  });
  test.each(vectors.map((vector) => [vector.name ?? vector.template, vector] as const))('%s', (_name, vector) => {
    check(vector);
  });
});

describe('Go 1.19 with sprig 3.2.3: further cases, drawn at random', () => {
  const cases = goCases.cases.map((one) => (one.data === '@sample' ? { ...one, data: goCases.sample } : one));
  const size = 100;
  const parts = Array.from({ length: Math.ceil(cases.length / size) }, (_, i) => cases.slice(i * size, (i + 1) * size));
  test.each(parts.map((part, i) => [i * size, part] as const))('cases from %i on', (_from, part) => {
    for (const one of part) {
      expect(() => check(one), one.template).not.toThrow();
    }
  });
});
