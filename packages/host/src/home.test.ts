import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openHome } from './home.ts';

test('a home is made with the folders above it, for its owner only, and is opened again as it is', async () => {
  const root = await mkdtemp(join(tmpdir(), 'infrakit-home-'));
  try {
    const path = join(root, 'a', 'b', 'c');
    expect((await openHome(path)).path).toBe(path);
    expect((await openHome(path)).path).toBe(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  } finally {
    await rm(root, { recursive: true });
  }
});

test('issue 5, bad input: a home where no folder can be made is refused in one sentence and not tried for ever', async () => {
  for (const path of ['/proc/nope', '/proc/nope/deeper']) {
    await expect(openHome(path)).rejects.toMatchObject({
      code: 'HOME_INVALID',
      message: `${path} cannot be the home: no folder can be made there; set INFRAKIT_HOME to a folder of yours`,
    });
  }
});
