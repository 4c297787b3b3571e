import { createHash } from 'node:crypto';
import type { Spec } from '../object/spec.ts';
import { canonicalJson, compareUtf8, sortedEntries } from '../value/canonical.ts';
import { goString } from '../value/go-json.ts';

// Members in the order they stand in; absent ones are left out.
const goJson = (value: unknown): string => {
  if (typeof value === 'string') return goString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${goString(key)}:${goJson(member)}`).join(',')}}`;
};

const sortedTags = (tags: Spec['metadata']['tags']): unknown =>
  tags === null || tags === undefined ? null : Object.fromEntries(sortedEntries(tags));

/**
 * The old fingerprint of a spec, for comparison with values stored by the old system only: hex MD5 of its JSON without
 * newlines, tabs and the blank after each `:`, inside strings too (EI §0.3). It depends on the order of keys in `properties`
 * and `options`; whether an item changed is decided by {@link diffSpecs} on canonical JSON instead (EI-T5).
 */
export const fingerprint = (spec: Spec): string => {
  const text = goJson({
    kind: spec.kind,
    version: spec.version ?? '',
    metadata: { id: spec.metadata.id, name: spec.metadata.name, tags: sortedTags(spec.metadata.tags) },
    template: spec.template,
    properties: spec.properties ?? null,
    options: spec.options,
    depends: spec.depends,
  });
  return createHash('md5').update(text.replaceAll(': ', ':')).digest('hex');
};

/** What turns one list of specs into another; every list is sorted by kind, version, name, id. */
export interface SpecChanges {
  readonly add: readonly Spec[];
  readonly remove: readonly Spec[];
  readonly change: readonly { readonly from: Spec; readonly to: Spec }[];
}

const identity = (spec: Spec): readonly string[] => [
  spec.kind,
  spec.version ?? '',
  spec.metadata.name,
  spec.metadata.id ?? '',
];

/** Which item a spec speaks of: kind, version, name and id as one text (GP §0.3). */
export const specKey = (spec: Spec): string => JSON.stringify(identity(spec));

/** Orders specs by kind, version, name, id. */
export const compareSpecs = (left: Spec, right: Spec): number => {
  const others = identity(right);
  return identity(left).reduce((order, part, index) => order || compareUtf8(part, others[index] ?? ''), 0);
};

/** Set difference of two spec lists by {@link specKey}; of one item listed twice the last counts (GP §0.3). */
export const diffSpecs = (before: readonly Spec[], after: readonly Spec[]): SpecChanges => {
  const old = new Map(before.map((spec) => [specKey(spec), spec]));
  const current = new Map(after.map((spec) => [specKey(spec), spec]));
  const sorted = (specs: Iterable<Spec>): Spec[] => [...specs].sort(compareSpecs);
  return {
    add: sorted(current.values()).filter((spec) => !old.has(specKey(spec))),
    remove: sorted(old.values()).filter((spec) => !current.has(specKey(spec))),
    change: sorted(current.values()).flatMap((to) => {
      const from = old.get(specKey(to));
      return from === undefined || canonicalJson(from) === canonicalJson(to) ? [] : [{ from, to }];
    }),
  };
};
