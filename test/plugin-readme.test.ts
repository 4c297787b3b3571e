import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const packages = fileURLToPath(new URL('../packages', import.meta.url));
const readme = readFileSync(`${packages}/README.md`, 'utf8');
const template = `${packages}/plugin-template`;

test('what packages/README.md shows in TypeScript is in the template', () => {
  const sources = readdirSync(`${template}/src`).map((name) => readFileSync(`${template}/src/${name}`, 'utf8'));
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks.filter((block) => !sources.some((source) => source.includes(block)))).toEqual([]);
});

test('the files of the template that packages/README.md names are those there are', () => {
  const named = [...readme.matchAll(/^\| `(src\/[^`]+)`/gm)].map(([, name = '']) => name);
  expect(named.sort()).toEqual(readdirSync(`${template}/src`).map((name) => `src/${name}`));
  for (const [, path = ''] of readme.matchAll(/\]\(([^)#]+)/g)) expect(existsSync(`${packages}/${path}`)).toBe(true);
});
