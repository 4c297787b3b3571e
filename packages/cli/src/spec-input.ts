import { fromLegacyGroup, LegacyGroupSpec, Spec } from '@infrakit/core';
import { type Document, decode, formatProblem, plain, readDocuments } from '@infrakit/document';
import type { z } from 'zod';
import type { RenderedSource } from './render.ts';

/** Something decoded from a file, with what was odd about it. */
export interface Decoded<T> {
  readonly value: T;
  readonly warnings: readonly string[];
}

/** All documents of a rendered file; positions in errors are those of the file itself. */
export const documentsOf = ({ source, text, positionOf }: RenderedSource): readonly Document[] =>
  readDocuments(source.text, { file: source.name, render: () => ({ text, positionOf }) });

/** One document by a schema. */
export const decodeAs = <S extends z.ZodType>(
  document: Document,
  schema: S,
  options: { readonly allowUnknownFields?: boolean } = {},
): Decoded<z.output<S>> => {
  const { value, warnings } = decode(document, schema, options);
  return { value, warnings: warnings.map(formatProblem) };
};

const isLegacyGroup = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.toLowerCase() === 'id');

/** A spec in either envelope: the new one, or the old one of groups (GP §1.1). */
export const decodeSpec = (
  document: Document,
  options: { readonly allowUnknownFields?: boolean } = {},
): Decoded<Spec> => {
  if (!isLegacyGroup(plain(document.root))) return decodeAs(document, Spec, options);
  const { value, warnings } = decodeAs(document, LegacyGroupSpec, options);
  return { value: fromLegacyGroup(value), warnings };
};
