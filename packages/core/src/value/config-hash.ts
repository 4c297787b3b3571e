import { createHash } from 'node:crypto';
import { base32 } from './base32.ts';
import { sortedEntries } from './canonical.ts';
import { goString } from './go-json.ts';

/** The half of a group's configuration that its members are built from. */
export interface PluginConfig {
  readonly Plugin?: string | undefined;
  readonly Properties?: unknown;
}

const lines = (open: string, items: readonly string[], close: string, margin: string): string =>
  items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => `${margin}  ${item}`).join(',\n')}\n${margin}${close}`;

const text = (value: unknown, margin: string): string => {
  const deeper = `${margin}  `;
  if (typeof value === 'string') return goString(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    return lines(
      '[',
      value.map((item) => text(item, deeper)),
      ']',
      margin,
    );
  }
  const members = sortedEntries(value).map(([key, member]) => `${goString(key)}: ${text(member, deeper)}`);
  return lines('{', members, '}', margin);
};

// Every line but the first stands two blanks further right than its level asks for.
const canonical = ({ Plugin = '', Properties = null }: PluginConfig): string => text({ Plugin, Properties }, '  ');

/**
 * The value of the tag `infrakit.config.hash`: 32 characters of `[a-z2-7]`, byte for byte what the old system computed, so
 * that its members are recognised (GP §1.3). Allocation and pacing do not count; the order of keys does not either.
 */
export const configHash = (instance: PluginConfig, flavor: PluginConfig): string =>
  base32(createHash('sha1').update(canonical(instance)).update(canonical(flavor)).digest());
