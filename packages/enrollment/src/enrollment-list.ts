import { InstanceDescription } from '@infrakit/core';
import { decodePart, type Part } from '@infrakit/document';
import { z } from 'zod';
import type { SourceItem } from './source-item.ts';

/** What `List` means: entries as written, or a group by `<plugin>/<group>` (EI §1.4). */
export type EnrollmentList =
  | { readonly kind: 'static'; readonly items: readonly SourceItem[] }
  | { readonly kind: 'group'; readonly plugin: string; readonly group: string };

const fault = (sentence: string): Part<never> => ({ value: undefined, faults: [sentence] });

const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const repeated = (items: readonly SourceItem[]): string[] => {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { ID } of items) (seen.has(ID) ? twice : seen).add(ID);
  return [...twice];
};

const staticList = (value: readonly unknown[]): Part<EnrollmentList> => {
  if (!value.every(isMap)) return fault('no list source specified: each entry of List is a map with an ID');
  const { value: items, faults } = decodePart('properties.List', value, z.array(InstanceDescription));
  if (items === undefined) return { value: undefined, faults };
  const twice = repeated(items);
  if (twice.length > 0) return fault(`properties.List: more than one entry has the ID ${twice.join(', ')}`);
  return { value: { kind: 'static', items }, faults: [] };
};

/**
 * Reads the union `List`. Nothing, a name without a group and everything else that is no list are faults: a misspelt list
 * never means an empty one (EI-E3). An explicit `[]` is legal.
 */
export const readList = (value: unknown): Part<EnrollmentList> => {
  if (value === undefined || value === null) {
    return fault('properties.List is missing: list entries, or name a group as <plugin>/<group>; [] stands for none');
  }
  if (Array.isArray(value)) return staticList(value);
  if (typeof value !== 'string') return fault('no list source specified: List is a list, or the name of a group');
  const slash = value.indexOf('/');
  const group = value.slice(slash + 1);
  if (slash < 1 || group === '') return fault('List must name a group as <plugin>/<group>');
  return { value: { kind: 'group', plugin: value, group }, faults: [] };
};
