import { z } from 'zod';

type Schema = z.core.JSONSchema.JSONSchema;

const typeOf = ({ type, enum: words, anyOf, items, additionalProperties }: Schema): string => {
  if (words !== undefined) return words.map((word) => `\`${word}\``).join(', ');
  if (anyOf !== undefined) return anyOf.map((each) => typeOf(each as Schema)).join(' or ');
  if (type === 'array') return `list of ${typeOf((items ?? {}) as Schema)}`;
  if (type === 'object' && additionalProperties !== undefined && additionalProperties !== false) return 'map';
  return String(type ?? 'any');
};

/** The fields of a schema, those of objects and lists in it behind them: `Ports[].HostPort`. */
const rowsOf = (schema: Schema, prefix = ''): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
    const field = each as Schema;
    const path = prefix + name;
    const isRequired = schema.required?.includes(name) === true;
    const otherwise = field.default === undefined ? '' : `\`${JSON.stringify(field.default)}\``;
    const row = `| \`${path}\` | ${typeOf(field)} | ${isRequired ? 'required' : otherwise} | ${field.description ?? ''} |`;
    const items = field.type === 'array' ? ((field.items ?? {}) as Schema) : undefined;
    return [row, ...(items === undefined ? rowsOf(field, `${path}.`) : rowsOf(items, `${path}[].`))];
  });

/** The table of a reference page: each field that a schema takes, its type, its default and what it means. */
export const referenceTable = (schema: z.ZodType): string => {
  const head = ['| field | type | default | meaning |', '|---|---|---|---|'];
  return [...head, ...rowsOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))].join('\n');
};
