import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('main.ts', import.meta.url));

test('the demo plays the main job and the repeater to their end', () => {
  const args = ['--import', 'tsx', '--conditions=@infrakit/source', script];
  const { INFRAKIT_BROKER: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 120_000 });
  expect(status, `${stdout.slice(-2_000)}\n${stderr}`).toBe(0);
  expect(stdout).toMatch(/^site1\/events\/time\/timer\/sec\/1 \{"Topic":"timer\/sec\/1"/m);
  expect(stdout).toMatch(/^site1\/events\/group\/cattle\/member\/joined \{"Topic":"cattle\/member\/joined"/m);
  expect(stdout).toMatch(/the rule was removed: of its ticks there are no more, the others go on/);
}, 150_000);
