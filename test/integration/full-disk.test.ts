import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../packages/cli/bin/infrakit.js', import.meta.url));

test('a home on a full disk is one sentence and exit 1', () => {
  const home = mkdtempSync(join(tmpdir(), 'infrakit-full-'));
  try {
    const script = 'mount -t tmpfs -o size=32k tmpfs "$0" && exec "$1" "$2" plugin start vanilla';
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['--mount', 'sh', '-c', script, home, process.execPath, program],
      {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, INFRAKIT_HOME: home, INFRAKIT_LISTEN: '127.0.0.1:0' },
        timeout: 20_000,
      },
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `infrakit: ${home} cannot be the home: the disk is full; set INFRAKIT_HOME to a folder of yours\n`,
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
