import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ExportNamespace, exportNamespace } from './export-namespace.ts';
import { ctx, spec, startExports, table } from './exports.ts';

const gone = { context: { Reason: 'terminate' } } as const;

/** Lets this process ask the resolver that exportfs asks in its namespace. */
const resolveInside = async (space: ExportNamespace): Promise<void> => {
  const bin = join(space.volumes, '..', 'bin');
  await mkdir(bin);
  await writeFile(
    join(bin, 'getent'),
    `#!/bin/sh\nexec ${space.command.slice(0, -1).join(' ')} /usr/bin/getent "$@"\n`,
    {
      mode: 0o755,
    },
  );
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
};

afterEach(() => void vi.unstubAllEnvs());

/** A program before exportfs that does as the file `mode` says. */
const moody = async (space: ExportNamespace) => {
  const [script, mode] = [join(space.volumes, '..', 'moody'), join(space.volumes, '..', 'mode')];
  await writeFile(
    script,
    `case "$(cat ${mode})" in
      fails) echo "sudo: a password is required" >&2; exit 1;;
      locked) echo "exportfs: can't lock /var/lib/nfs/etab for writing" >&2; exit 1;;
      unreadable) echo "exportfs: can't open /var/lib/nfs/etab for reading" >&2; exit 0;;
      killed) kill -9 $$;;
    esac
    exec "$@"`,
  );
  const set = (text: 'works' | 'fails' | 'locked' | 'unreadable' | 'killed'): Promise<void> => writeFile(mode, text);
  await set('works');
  return { set, moodySpace: { ...space, command: ['sh', script, ...space.command] } };
};

describe('issue 7, "verified by what `exportfs -s` then says": as exportfs lists it', () => {
  test.each([
    ['a path with a slash at its end', 'a/', '10.0.0.5'],
    ['a path with two slashes', '/a', '10.0.0.5'],
    ['a path by a link', 'link', '10.0.0.5'],
    ['a path with a #', 'x#y', '10.0.0.5'],
    ['a path with a blank', 'b c', '10.0.0.5'],
    ['a path that is not ASCII', 'é', '10.0.0.5'],
    ['an address of IPv6 in capitals', 'a', '2001:DB8::1'],
    ['a network of IPv6', 'a', '2001:db8::/64'],
    ['a network with a mask', 'a', '10.0.0.0/255.255.255.0'],
    ['a name in capitals', 'a', 'LOCALHOST'],
    ['an alias of a host', 'a', 'alias.test'],
  ])('%s is exported, described so and taken away again', async (_, folder, Client) => {
    await using space = await exportNamespace('10.0.0.9 canonical.test alias.test');
    await resolveInside(space);
    await symlink('a', join(space.volumes, 'link'));
    for (const name of ['x#y', 'é']) await mkdir(join(space.volumes, name));
    const instance = await startExports(space);
    const properties = { Path: `${space.volumes}/${folder}`, Client };
    const { id } = await instance.provision({ spec: spec(properties) }, ctx);
    expect(table(space)).toHaveLength(1);
    expect(await instance.describe({ tags: {}, properties: true }, ctx)).toMatchObject({
      instances: [{ ID: id, State: 'exported', Properties: properties }],
    });
    await instance.destroy({ id, ...gone }, ctx);
    expect(table(space)).toEqual([]);
  });

  test('one folder by two paths is one export: the second is refused', async () => {
    await using space = await exportNamespace();
    await symlink('a', join(space.volumes, 'link'));
    const instance = await startExports(space);
    await instance.provision({ spec: spec({ Path: join(space.volumes, 'a'), Client: '10.0.0.5' }) }, ctx);
    const again = { Path: join(space.volumes, 'link'), Client: '10.0.0.5' };
    await expect(instance.provision({ spec: spec(again) }, ctx)).rejects.toThrow(/already/);
  });
});

describe('issue 7, "taken back when exportfs refuses": nobody keeps access that was taken away', () => {
  test.each(['fails', 'locked', 'killed'] as const)(
    'an exportfs that %s: the export stays an instance, and a further destroy ends it',
    async (mode) => {
      await using space = await exportNamespace();
      const { set, moodySpace } = await moody(space);
      const instance = await startExports(moodySpace);
      const Path = join(space.volumes, 'a');
      const { id } = await instance.provision({ spec: spec({ Path, Client: '10.0.0.5' }) }, ctx);
      await set(mode);
      await expect(instance.destroy({ id, ...gone }, ctx)).rejects.toMatchObject({ code: 'INSTANCE_FAILED' });
      expect(table(space)).toHaveLength(1);
      await set('works');
      expect(await instance.describe({ tags: {}, properties: false }, ctx)).toMatchObject({ instances: [{ ID: id }] });
      await instance.destroy({ id, ...gone }, ctx);
      expect(table(space)).toEqual([]);
      expect(await readdir(space.dir)).toEqual([]);
    },
  );

  test.each(['fails', 'locked', 'unreadable', 'killed'] as const)(
    'an exportfs that %s lists no empty table: it is an error',
    async (mode) => {
      await using space = await exportNamespace();
      const { set, moodySpace } = await moody(space);
      const instance = await startExports(moodySpace);
      const { id } = await instance.provision(
        { spec: spec({ Path: join(space.volumes, 'a'), Client: '10.0.0.5' }) },
        ctx,
      );
      await set(mode);
      await expect(instance.describe({ tags: {}, properties: false }, ctx)).rejects.toMatchObject({
        code: 'INSTANCE_FAILED',
      });
      await set('works');
      expect(await instance.describe({ tags: {}, properties: false }, ctx)).toMatchObject({
        instances: [{ ID: id, State: 'exported' }],
      });
    },
  );

  test('a process that died before it took an export out of the table, and an exportfs that fails at the next start: it is made up for', async () => {
    await using space = await exportNamespace();
    const { set, moodySpace } = await moody(space);
    const first = await startExports(moodySpace);
    await first.provision({ spec: spec({ Path: join(space.volumes, 'a'), Client: '10.0.0.5' }) }, ctx);
    const [file = ''] = await readdir(space.dir);
    await rm(join(space.dir, file));
    await set('fails');
    const second = await startExports(moodySpace);
    expect(table(space)).toHaveLength(1);
    await set('works');
    expect(await second.describe({ tags: {}, properties: false }, ctx)).toMatchObject({ instances: [] });
    expect(table(space)).toEqual([]);
  });

  test('a line of ours that somebody changed is written anew', async () => {
    await using space = await exportNamespace();
    const warnings: unknown[] = [];
    const instance = await startExports(space, warnings);
    const Path = join(space.volumes, 'a');
    const { id } = await instance.provision(
      { spec: spec({ Path, Client: '10.0.0.5', Options: ['ro', 'no_subtree_check'] }) },
      ctx,
    );
    const [file = ''] = await readdir(space.dir);
    const path = join(space.dir, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('10.0.0.5(ro', '10.0.0.5(rw').concat(`${Path} *(rw,no_subtree_check)\n`));
    expect(await instance.describe({ tags: {}, properties: false }, ctx)).toMatchObject({
      instances: [{ ID: id, State: 'exported' }],
    });
    expect(await readFile(path, 'utf8')).toBe(text);
    expect(table(space)).toEqual([expect.stringMatching(/10\.0\.0\.5\(.*\bro\b/)]);
    expect(JSON.stringify(warnings)).toContain(id);
  });
});

test('issue 7, "foreign entries untouched": where somebody exports the same folder to the same client with other options, ours is refused', async () => {
  await using space = await exportNamespace();
  const Path = join(space.volumes, 'a');
  const foreign = `${Path} 10.0.0.5(ro,no_subtree_check)\n`;
  await writeFile(join(space.dir, 'other.exports'), foreign);
  const instance = await startExports(space);
  await expect(instance.provision({ spec: spec({ Path, Client: '10.0.0.5' }) }, ctx)).rejects.toThrow(/IGNORED/);
  expect(table(space)).toEqual([expect.stringMatching(/10\.0\.0\.5\(.*\bro\b/)]);
  expect(await readdir(space.dir)).toEqual(['other.exports']);
  expect(await readFile(join(space.dir, 'other.exports'), 'utf8')).toBe(foreign);
});
