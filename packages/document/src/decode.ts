import type { z } from 'zod';
import { createAlign } from './align.ts';
import type { Document } from './document.ts';
import type { Finding } from './finding.ts';
import { judge } from './judge.ts';
import { follow, formatValuePath, type ValuePath } from './located.ts';
import { createProblem, type Problem, problemsError } from './problem.ts';

export interface DecodeOptions {
  /** Unknown fields become warnings and are left out of the value. */
  readonly allowUnknownFields?: boolean;
  /** Decodes what is at this path instead of the whole document: `['properties']`. */
  readonly at?: ValuePath;
}

/** A value of the schema's output type, and a warning for each unknown field that was allowed. */
export interface Decoded<T> {
  readonly value: T;
  readonly warnings: readonly Problem[];
}

/** A missing field is not told where an unknown one beside it was probably meant to be it. */
const isToldAlready = (finding: Finding, unknown: readonly Finding[]): boolean =>
  finding.isMissing === true &&
  unknown.some(
    ({ path, meant }) =>
      meant === finding.path.at(-1) &&
      path.length === finding.path.length &&
      path.slice(0, -1).every((part, index) => part === finding.path[index]),
  );

/**
 * Decodes a document by a schema. Fields of typed objects match exactly first, then in any case (EI §0.1); keys of
 * free-form maps and opaque values are kept as written. All errors come at once as one `SPEC_INVALID`: unknown fields
 * with the nearest known one, fields given twice, and every value that the schema refuses.
 */
export const decode = <S extends z.core.$ZodType>(
  document: Document,
  schema: S,
  { allowUnknownFields = false, at = [] }: DecodeOptions = {},
): Decoded<z.core.output<S>> => {
  const toProblem = ({ path, offset, message }: Finding): Problem =>
    createProblem(document.file, document.positionOf(offset), formatValuePath([...at, ...path]), message);
  const { node, offset } = follow(document.root, at);
  if (node === undefined) {
    throw problemsError('SPEC_INVALID', [toProblem({ path: [], offset, message: 'missing: add it' })]);
  }
  const aligned = createAlign()(schema, node);
  const unknown = aligned.findings.filter((finding) => finding.isUnknownField);
  const judged = judge(schema, aligned.value, node);
  const refused = 'findings' in judged ? judged.findings : [];
  const errors = allowUnknownFields
    ? [...aligned.findings.filter((finding) => !finding.isUnknownField), ...refused]
    : [...aligned.findings, ...refused.filter((finding) => !isToldAlready(finding, unknown))];
  if ('value' in judged && errors.length === 0) {
    return { value: judged.value, warnings: unknown.map(toProblem) };
  }
  throw problemsError('SPEC_INVALID', errors.map(toProblem));
};
