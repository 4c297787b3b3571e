import { dump } from 'js-yaml';

export interface PrintOptions {
  /** Keys of every map in code-unit order; else as they were inserted. */
  readonly sortKeys?: boolean;
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]));
};

/** What JSON keeps of a value: no undefined, no functions; dates as text. */
const printable = (value: unknown, { sortKeys = false }: PrintOptions): unknown => {
  const json: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
  return sortKeys ? sorted(json) : json;
};

/** YAML in blocks, without aliases, ending in a line break; strings that YAML 1.1 or 1.2 would read otherwise are quoted. */
export const toYaml = (value: unknown, options: PrintOptions = {}): string =>
  dump(printable(value, options), { noRefs: true, lineWidth: -1 });

/** JSON with an indent of 2, ending in a line break. */
export const toJson = (value: unknown, options: PrintOptions = {}): string =>
  `${JSON.stringify(printable(value, options), null, 2)}\n`;
