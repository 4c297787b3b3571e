import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ContainerProperties, DockerOptions, dockerDefinition } from '@infrakit/plugin-docker';
import { ExportProperties, ExportsOptions, nfsExportsDefinition } from '@infrakit/plugin-nfs-exports';
import { loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { referenceTable } from './reference-table.ts';

const pages = [
  { name: 'plugin-docker', definition: dockerDefinition, options: DockerOptions, properties: ContainerProperties },
  {
    name: 'plugin-nfs-exports',
    definition: nfsExportsDefinition,
    options: ExportsOptions,
    properties: ExportProperties,
  },
] as const;

const pathOf = (name: string): string => fileURLToPath(new URL(`../packages/${name}/README.md`, import.meta.url));

/** A table without what only lays it out. */
const bare = (text: string): string => text.replace(/[ -]+/g, ' ').replace(/\n\s*/g, '\n').trim();

/** Puts tables where their marks are. */
const withTables = (page: string, tables: Readonly<Record<string, z.ZodType>>): string =>
  page.replace(/(<!-- (\w+): generated -->\n)[\s\S]*?(<!-- end -->)/g, (_, mark: string, name: string, end: string) => {
    const schema = tables[name];
    if (schema === undefined) throw new Error(`there is no table named ${name}`);
    return `${mark}\n${referenceTable(schema)}\n\n${end}`;
  });

/** Specs of a page, as an operator would commit them. */
const specsOf = (page: string): { kind: string; properties: { Instance: { Plugin: string; Properties: object } } }[] =>
  [...page.matchAll(/```yaml\n([\s\S]*?)```/g)]
    .flatMap(([, text = '']) => loadAll(text) as never[])
    .filter((document: { kind?: string }) => document.kind !== undefined);

describe.each(pages)('the reference page of $name', ({ name, definition, options, properties }) => {
  test('has the fields of the schemas; UPDATE=1 rewrites it', async () => {
    const page = await readFile(pathOf(name), 'utf8');
    const wanted = withTables(page, { options, properties });
    if (process.env.UPDATE === '1') await writeFile(pathOf(name), wanted);
    else expect(bare(page)).toBe(bare(wanted));
    expect(page.match(/: generated -->/g)).toHaveLength(2);
  });

  test('names every variable of the environment that sets an option', async () => {
    const page = await readFile(pathOf(name), 'utf8');
    for (const variable of Object.keys(definition.environment ?? {})) expect(page).toContain(`\`${variable}\``);
  });

  test('has examples that the plugin takes', async () => {
    const specs = specsOf(await readFile(pathOf(name), 'utf8'));
    const own = specs.filter(({ properties: { Instance } }) => Instance.Plugin.startsWith(`${definition.kind}/`));
    expect(own.length).toBeGreaterThan(0);
    for (const { properties: asked } of own) {
      // What is rendered for each member is an address.
      const rendered = JSON.parse(JSON.stringify(asked.Instance.Properties), (_, value: unknown) =>
        typeof value === 'string' && value.includes('.Address') ? '10.0.0.5' : value,
      );
      expect(properties.safeParse(rendered).error?.issues ?? []).toEqual([]);
    }
  });
});
