import type { ValuePath } from './located.ts';

/** Something wrong with a value, before it has a file and a line. */
export interface Finding {
  readonly path: ValuePath;
  readonly offset: number;
  readonly message: string;
  /** The field is unknown: a warning where unknown fields are allowed. */
  readonly isUnknownField?: boolean;
  /** The known field that an unknown one probably meant. */
  readonly meant?: string;
  /** Nothing was written at the path. */
  readonly isMissing?: boolean;
}

/** The same findings, seen from a parent. */
export const below = (parent: string | number, findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => ({ ...finding, path: [parent, ...finding.path] }));
