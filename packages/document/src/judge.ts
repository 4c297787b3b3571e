import type { z } from 'zod';
import { safeParse } from 'zod/v4/core';
import type { Finding } from './finding.ts';
import { follow, type Located, type ValuePath } from './located.ts';
import { sentence, standard } from './sentence.ts';

type Issue = z.core.$ZodIssue;

const valuePath = (path: readonly PropertyKey[]): ValuePath =>
  path.map((part) => (typeof part === 'number' ? part : String(part)));

const isAtRoot = (issue: Issue): boolean => issue.path.length === 0;

/** Whether an option of a union fails as a whole, not inside. */
const failsWhole = (issues: readonly Issue[]): boolean =>
  issues.some((issue) => isAtRoot(issue) && (issue.code === 'invalid_type' || issue.code === 'invalid_value'));

/** How far a value is from an option: fields that the option does not have tell most. */
const distance = (issues: readonly Issue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? 1_000 * issue.keys.length : 1), 0);

const findingsOf = (issue: Issue, root: Located, parent: ValuePath): Finding[] => {
  const path = [...parent, ...valuePath(issue.path)];
  const { node, offset } = follow(root, path);
  if (issue.code === 'invalid_union' && issue.message === standard && node !== undefined) {
    const inside = issue.errors.filter((issues) => !failsWhole(issues));
    const nearest = inside.toSorted((a, b) => distance(a) - distance(b))[0];
    if (nearest !== undefined) return nearest.flatMap((one) => findingsOf(one, root, path));
  }
  return [{ path, offset, message: sentence(issue, node), isMissing: node === undefined }];
};

/** Validates an aligned value: the schema's output, or a finding for each issue, placed by the value as it was written. */
export const judge = <S extends z.core.$ZodType>(
  schema: S,
  value: unknown,
  root: Located,
): { value: z.core.output<S> } | { findings: readonly Finding[] } => {
  const result = safeParse(schema, value, { error: () => standard });
  if (result.success) return { value: result.data };
  return { findings: result.error.issues.flatMap((issue) => findingsOf(issue, root, [])) };
};
