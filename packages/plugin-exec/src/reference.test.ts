import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { formatDuration } from '@infrakit/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ExecOptions, execEnvironment } from './exec-options.ts';
import { exitCodes } from './program-answer.ts';

const page = fileURLToPath(new URL('../README.md', import.meta.url));
const readme = await readFile(page, 'utf8');

/** The variable that sets an option, found by what it sets. */
const variableOf = (option: string): string => {
  const sample = { INFRAKIT_EXEC_ARGS: '["a"]' } as Readonly<Record<string, string>>;
  const found = Object.entries(execEnvironment).find(([name, read]) => option in read(sample[name] ?? '1'));
  return found?.[0] ?? '';
};

const defaults: Readonly<Record<string, unknown>> = ExecOptions.parse({ Command: 'x' });

const optionsTable = (): string => {
  const schema = z.toJSONSchema(ExecOptions, { io: 'input', unrepresentable: 'any' });
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    if (typeof property === 'boolean') throw new Error(`${name} has no schema`);
    const { type, description = '' } = property;
    const given = defaults[name];
    // What is a text or a number is a duration.
    const isDuration = Array.isArray(type) && typeof given === 'number';
    const shown = isDuration ? formatDuration(given) : JSON.stringify(given);
    const otherwise = schema.required?.includes(name) ? 'required' : `\`${shown}\``;
    return `| \`${name}\` | ${isDuration ? 'duration' : type} | ${otherwise} | \`${variableOf(name)}\` | ${description} |`;
  });
  return ['| option | type | default | variable | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
};

/** A table without what only lays it out. */
const bare = (text: string): string => text.replace(/[ -]+/g, ' ').replace(/\n\s*/g, '\n').trim();

test('the reference page has the options of the schema; UPDATE=1 rewrites it', async () => {
  const [, before = '', table = '', after = ''] =
    /^([\s\S]*<!-- options:.*-->\n)([\s\S]*)(<!-- end of options -->[\s\S]*)$/.exec(readme) ?? [];
  if (process.env.UPDATE === '1') await writeFile(page, `${before}\n${optionsTable()}\n\n${after}`);
  else expect(bare(table)).toBe(bare(optionsTable()));
});

test('the reference page has every exit code that means something', () => {
  const told = [...readme.matchAll(/^\| `([A-Z_]+)` +\| (\d+) +\|/gm)].map(([, code, exit]) => [exit, code]);
  expect(Object.fromEntries(told)).toEqual(exitCodes);
});
