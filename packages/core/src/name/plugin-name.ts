import { z } from 'zod';
import { AppError } from '../errors.ts';

const bad = (raw: unknown): string => `bad-format-for-name:${typeof raw === 'string' ? raw : JSON.stringify(raw)}`;

/**
 * A plugin name as documents carry it: `lookup` or `lookup/type`, kept letter for letter (GP §0.1).
 * A non-string, or a name without a lookup, is refused with `bad-format-for-name:<raw>`.
 */
export const PluginName = z
  .string({ error: (issue) => bad(issue.input) })
  .refine((name) => name !== '' && !name.startsWith('/'), { error: (issue) => bad(issue.input) });
export type PluginName = z.infer<typeof PluginName>;

/** A name taken apart. `type` is absent for `x` and empty for `x/`, the "lookup only" form. */
export interface PluginNameParts {
  readonly lookup: string;
  readonly type?: string;
}

/** Splits at the first slash, so that `a/b/c` has the type `b/c`. Errors: `NAME_INVALID`. */
export const parsePluginName = (raw: unknown): PluginNameParts => {
  if (typeof raw !== 'string' || raw === '' || raw.startsWith('/')) {
    throw new AppError('NAME_INVALID', bad(raw), { facts: { raw } });
  }
  const slash = raw.indexOf('/');
  return slash < 0 ? { lookup: raw } : { lookup: raw.slice(0, slash), type: raw.slice(slash + 1) };
};

/** The text of a name; the inverse of {@link parsePluginName}. */
export const formatPluginName = ({ lookup, type }: PluginNameParts): PluginName =>
  type === undefined ? lookup : `${lookup}/${type}`;

/** The same lookup with another type. */
export const withType = (name: PluginName, type: string): PluginName =>
  formatPluginName({ lookup: parsePluginName(name).lookup, type });
