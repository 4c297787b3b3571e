import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type InstanceSubject, instanceContract } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { contractTests } from '../contract.ts';
import { exportNamespace } from './export-namespace.ts';
import { ctx, spec, startExports, table } from './exports.ts';

contractTests(instanceContract, async (): Promise<InstanceSubject & AsyncDisposable> => {
  const space = await exportNamespace();
  let instance = await startExports(space);
  let client = 0;
  return {
    get instance() {
      return instance;
    },
    properties: () => {
      client += 1;
      return { Path: join(space.volumes, 'a'), Client: `10.0.${client >> 8}.${client & 255}` };
    },
    invalidProperties: { Path: 'relative', Client: 'a b' },
    keepsLogicalId: true,
    isRelabelRefused: false,
    hasIdempotencyKeys: true,
    takesTerms: false,
    isEventuallyConsistent: false,
    longList: 30,
    restart: async () => {
      instance = await startExports(space);
    },
    [Symbol.asyncDispose]: space[Symbol.asyncDispose],
  };
});

describe('NFS exports by the real exportfs', () => {
  test('an export is in the table when it is answered, and gone when its destroy is', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    const properties = { Path: join(space.volumes, 'b c'), Client: '10.0.0.5', Options: ['ro', 'no_subtree_check'] };
    const { id } = await instance.provision({ spec: spec(properties) }, ctx);
    expect(table(space)).toEqual([expect.stringMatching(/volumes\/b\\040c +10\.0\.0\.5\(.*\bro\b/)]);
    const listing = await instance.describe({ tags: {}, properties: true }, ctx);
    expect(listing).toMatchObject({ instances: [{ ID: id, State: 'exported', Properties: properties }] });
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect(table(space)).toEqual([]);
    expect(await readdir(space.dir)).toEqual([]);
  });

  test('what exportfs refuses is taken back, with its own words: a folder that is not there, a name that does not resolve', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    const missing = { Path: join(space.volumes, 'missing'), Client: '10.0.0.5' };
    await expect(instance.provision({ spec: spec(missing) }, ctx)).rejects.toThrow(/was not exported.*No such file/);
    const unresolved = { Path: join(space.volumes, 'a'), Client: 'nosuchhost.invalid' };
    await expect(instance.provision({ spec: spec(unresolved) }, ctx)).rejects.toThrow(/Failed to resolve nosuchhost/);
    expect(await readdir(space.dir)).toEqual([]);
    expect(table(space)).toEqual([]);
  });

  test('a foreign export stays byte for byte; a broken foreign line is told and does not block ours', async () => {
    await using space = await exportNamespace();
    const foreign = `${join(space.volumes, 'a')} 10.9.9.9(rw,no_subtree_check)\n${join(space.volumes, 'a')} 10.9.9.8(rw,nosuchopt)\n`;
    await writeFile(join(space.dir, 'other.exports'), foreign);
    const warnings: unknown[] = [];
    const instance = await startExports(space, warnings);
    const { id } = await instance.provision(
      { spec: spec({ Path: join(space.volumes, 'a'), Client: '10.0.0.5' }) },
      ctx,
    );
    expect(table(space).some((line) => line.includes('10.0.0.5'))).toBe(true);
    expect(JSON.stringify(warnings)).toContain('nosuchopt');
    await instance.destroy({ id, context: { Reason: 'terminate' } }, ctx);
    expect(await readFile(join(space.dir, 'other.exports'), 'utf8')).toBe(foreign);
    await expect(instance.destroy({ id: 'other', context: { Reason: 'terminate' } }, ctx)).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
  });

  test('a process that died between a file and the table: both are the same after the next start (Law 11)', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    const properties = { Path: join(space.volumes, 'a'), Client: '10.0.0.5' };
    await instance.provision({ spec: spec(properties) }, ctx);
    const [file = ''] = await readdir(space.dir);
    const path = join(space.dir, file);
    const text = await readFile(path, 'utf8');
    await rm(path);
    expect(table(space)).toHaveLength(1);
    await startExports(space);
    expect(table(space)).toEqual([]);
    await writeFile(path, text);
    await startExports(space);
    expect(table(space)).toHaveLength(1);
  });

  test('an export that somebody took out of the table is put back at the next look', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    const Path = join(space.volumes, 'a');
    const { id } = await instance.provision({ spec: spec({ Path, Client: '10.0.0.5' }) }, ctx);
    const [program = '', ...args] = space.command;
    execFileSync(program, [...args, '-u', `10.0.0.5:${Path}`]);
    expect(table(space)).toEqual([]);
    expect(await instance.describe({ tags: {}, properties: false }, ctx)).toMatchObject({
      instances: [{ ID: id, State: 'exported' }],
    });
    expect(table(space)).toHaveLength(1);
  });

  test('every fault of bad properties at once; nothing of a hostile path or client reaches the file', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    const bad = { Path: '/a" *(rw) "', Client: 'x(rw) 10.0.0.1', Options: ['rw', 'nosuch'], Extra: 1 };
    const validate = instance.validate({ properties: bad }, ctx);
    await expect(validate).rejects.toThrow(/Path.*Client.*Options.*Extra/s);
    await expect(instance.provision({ spec: spec({ ...bad, Path: '/a\n/b *(rw)' }) }, ctx)).rejects.toMatchObject({
      code: 'INSTANCE_INVALID',
    });
    expect(await readdir(space.dir)).toEqual([]);
  });

  test('networks, netgroups, wildcards and IPv6 are clients; the same export twice is refused', async () => {
    await using space = await exportNamespace();
    const instance = await startExports(space);
    for (const Client of ['10.0.0.0/24', '10.0.0.0/255.255.255.0', '*.example.org', 'fd00::/64', '@trusted', '*']) {
      await instance.validate({ properties: { Path: join(space.volumes, 'a'), Client } }, ctx);
    }
    const properties = { Path: join(space.volumes, 'a'), Client: '10.0.0.0/24' };
    await instance.provision({ spec: spec(properties) }, ctx);
    await expect(instance.provision({ spec: spec(properties) }, ctx)).rejects.toThrow(
      'is exported to 10.0.0.0/24 already',
    );
  });
});
