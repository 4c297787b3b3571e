import { readFileSync } from 'node:fs';
import { errorTable } from '@infrakit/core';
import { expect, test } from 'vitest';

test('the README has every error code, at its exit code', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^- Exit (\d+): ([^.]*)\.$/gm)];
  const told = rows.flatMap(([, exit, codes = '']) =>
    [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => `${code} ${exit}`),
  );
  const known = Object.entries(errorTable).map(([code, { exit }]) => `${code} ${exit}`);
  expect(told.sort()).toEqual(known.sort());
});
