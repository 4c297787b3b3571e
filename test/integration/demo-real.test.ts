import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../demo/real.ts', import.meta.url));

test('the main job on real parts: containers, exports, broker, as `npm run demo:real` shows it', () => {
  const args = ['--import', 'tsx', '--conditions=@infrakit/source', script];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 150_000 });
  expect(status, `${stdout.slice(-2_000)}\n${stderr}`).toBe(0);
  expect(stdout).toContain('the foreign container and export are as they were');
}, 180_000);
