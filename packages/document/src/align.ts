import { suggest } from '@infrakit/core';
import { safeParse } from 'zod/v4/core';
import { type AnySchema, type Fields, fieldsOf, unwrap } from './fields.ts';
import { below, type Finding } from './finding.ts';
import { findEntry, type Located, type LocatedEntry, type LocatedList, type LocatedMap, plain } from './located.ts';

/** A plain value whose fields have the schema's spelling and no unknown ones, and what was found on the way. */
export interface Aligned {
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

type Align = (schema: AnySchema, node: Located) => Aligned;

const unknownField = (entry: LocatedEntry, fields: readonly string[], taken: ReadonlySet<string>): Finding => {
  const free = fields.filter((field) => !taken.has(field));
  const meant = suggest(entry.key, free) ?? suggest(entry.key, fields);
  const known =
    fields.length === 0 ? 'no field is known here' : `known are ${fields.map((one) => `\`${one}\``).join(', ')}`;
  const message = `unknown field, ${meant === undefined ? `${known}: remove it` : `did you mean \`${meant}\`?`}`;
  const found = { path: [entry.key], offset: entry.keyOffset, message, isUnknownField: true };
  return meant === undefined ? found : { ...found, meant };
};

const twice = (entry: LocatedEntry, first: LocatedEntry, field: string): Finding => ({
  path: [field],
  offset: entry.keyOffset,
  message: `\`${first.key}\` and \`${entry.key}\` are the same field: keep one`,
});

const alignFields = ({ shape, rest }: Fields, map: LocatedMap, align: Align): Aligned => {
  const names = Object.keys(shape);
  const byLowerCase = new Map(names.toReversed().map((name) => [name.toLowerCase(), name]));
  const fieldOf = (key: string) => (Object.hasOwn(shape, key) ? key : byLowerCase.get(key.toLowerCase()));
  const given = new Map<string, LocatedEntry>();
  const taken = new Set(map.entries.flatMap((entry) => fieldOf(entry.key) ?? []));
  const value: [string, unknown][] = [];
  const findings: Finding[] = [];
  for (const entry of map.entries) {
    const field = fieldOf(entry.key) ?? (rest === undefined ? undefined : entry.key);
    const first = given.get(field ?? '');
    if (field === undefined) {
      findings.push(unknownField(entry, names, taken));
    } else if (first !== undefined) {
      findings.push(twice(entry, first, field));
    } else {
      given.set(field, entry);
      const schema = Object.hasOwn(shape, field) ? shape[field] : rest;
      const aligned = schema === undefined ? { value: plain(entry.value), findings: [] } : align(schema, entry.value);
      value.push([field, aligned.value]);
      findings.push(...below(field, aligned.findings));
    }
  }
  return { value: Object.fromEntries(value), findings };
};

const alignList = (
  list: LocatedList,
  schemaOf: (index: number) => AnySchema | undefined | null,
  align: Align,
): Aligned => {
  const items = list.items.map((item, index) => {
    const schema = schemaOf(index);
    return schema ? align(schema, item) : { value: plain(item), findings: [] };
  });
  return {
    value: items.map((item) => item.value),
    findings: items.flatMap((item, index) => below(index, item.findings)),
  };
};

const alignRecord = (map: LocatedMap, schema: AnySchema, align: Align): Aligned => {
  const entries = map.entries.map((entry) => ({ key: entry.key, ...align(schema, entry.value) }));
  return {
    value: Object.fromEntries(entries.map((entry) => [entry.key, entry.value])),
    findings: entries.flatMap((entry) => below(entry.key, entry.findings)),
  };
};

/** The options of a discriminated union that the discriminator of this node names; all of them when it names none. */
const candidates = (options: readonly AnySchema[], discriminator: string | undefined, node: Located) => {
  if (discriminator === undefined || node.kind !== 'map') return options;
  const named = findEntry(node, discriminator)?.value;
  if (named?.kind !== 'scalar') return options;
  const matching = options.filter((option) => option._zod.propValues?.[discriminator]?.has(named.value));
  return matching.length > 0 ? matching : options;
};

/** Unknown fields tell more of which option was meant than wrong values do, another kind of value most. */
const weights = { otherKind: 1_000_000, unknownField: 1_000 };

const alignUnion = (options: readonly AnySchema[], node: Located, align: Align): Aligned => {
  let best: { aligned: Aligned; faults: number } | undefined;
  for (const option of options) {
    const aligned = align(option, node);
    const issues = safeParse(option, aligned.value).error?.issues ?? [];
    const isOtherKind = issues.some((issue) => issue.path.length === 0 && issue.code === 'invalid_type');
    const unknown = aligned.findings.filter((finding) => finding.isUnknownField).length;
    const faults =
      aligned.findings.length + issues.length + unknown * weights.unknownField + (isOtherKind ? weights.otherKind : 0);
    if (best === undefined || faults < best.faults) best = { aligned, faults };
    if (faults === 0) break;
  }
  return best?.aligned ?? { value: plain(node), findings: [] };
};

const alignNew = (wrapped: AnySchema, node: Located, align: Align): Aligned => {
  const schema = unwrap(wrapped);
  const { def } = schema._zod;
  if (def.type === 'union') {
    const discriminator = 'discriminator' in def ? String(def.discriminator) : undefined;
    return alignUnion(candidates(def.options, discriminator, node), node, align);
  }
  if (node.kind === 'map') {
    const fields = fieldsOf(schema);
    if (fields !== undefined) return alignFields(fields, node, align);
    if (def.type === 'record') return alignRecord(node, def.valueType, align);
  }
  if (node.kind === 'list') {
    if (def.type === 'array') return alignList(node, () => def.element, align);
    if (def.type === 'tuple') return alignList(node, (index) => def.items[index] ?? def.rest, align);
  }
  return { value: plain(node), findings: [] };
};

/**
 * Gives a located value the shape of a schema without judging it: fields of typed objects match exactly first, then in
 * any case (EI §0.1); free-form maps and opaque values stay as written. Of a union the option with the fewest faults
 * is taken. Each pair of schema and value is aligned once, so that unions inside unions stay cheap.
 */
export const createAlign = (): Align => {
  const known = new Map<AnySchema, Map<Located, Aligned>>();
  const align: Align = (schema, node) => {
    const ofSchema = known.get(schema) ?? new Map<Located, Aligned>();
    known.set(schema, ofSchema);
    const aligned = ofSchema.get(node) ?? alignNew(schema, node, align);
    ofSchema.set(node, aligned);
    return aligned;
  };
  return align;
};
