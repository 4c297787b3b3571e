import { toJson, toYaml } from '@infrakit/document';
import { usageError } from './exit.ts';

/** How a verb prints what it found (DESIGN §6). */
export type Format = 'table' | 'wide' | 'objects' | 'json' | 'yaml';

const formats: readonly Format[] = ['table', 'wide', 'objects', 'json', 'yaml'];

/** The options that choose a format, as commander gives them. */
export interface FormatOptions {
  readonly output?: string | true;
  readonly raw?: boolean;
  readonly yaml?: boolean;
}

/** The chosen format: `-r` is json, with `-y` yaml; a bare `-o` is objects. Wrong usage for another word. */
export const formatOf = ({ output, raw, yaml }: FormatOptions): Format => {
  if (output === true) return 'objects';
  if (output !== undefined) {
    const format = formats.find((known) => known === output);
    if (format === undefined) throw usageError(`-o takes ${formats.join(', ')}, not ${JSON.stringify(output)}`);
    return format;
  }
  if (raw === true) return yaml === true ? 'yaml' : 'json';
  return 'table';
};

/** Data as JSON or YAML text that ends with a line break. */
export const rawText = (value: unknown, format: 'json' | 'yaml'): string => {
  const text = format === 'json' ? toJson(value) : toYaml(value);
  return text.endsWith('\n') ? text : `${text}\n`;
};
