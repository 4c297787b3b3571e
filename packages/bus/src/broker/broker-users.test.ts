import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashPassword, loadUsers, parseUsers } from './broker-users.ts';

const ignore = (): void => undefined;
const bytes = (text: string): Buffer => Buffer.from(text);

describe('the users file', () => {
  it('lets in who knows the password, with the role of the line', async () => {
    const text = `# people\n\nops:full:${await hashPassword('pä$s:w')}\r\neve:read-only:${await hashPassword('look')}\n`;
    const users = parseUsers(text, 'users');
    await expect(users.check('ops', bytes('pä$s:w'))).resolves.toBe('full');
    await expect(users.check('eve', bytes('look'))).resolves.toBe('read-only');
    for (const [name, password] of [
      ['ops', 'look'],
      ['eve', ''],
      ['nobody', 'look'],
      ['', ''],
    ] as const) {
      await expect(users.check(name, bytes(password))).resolves.toBeUndefined();
    }
  });

  it('takes hashes that others made with scrypt (RFC 7914, the vector of 16 MiB)', async () => {
    const hash = Buffer.from(
      '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
      'hex',
    );
    const salt = bytes('SodiumChloride');
    const line = `u:full:scrypt$16384$8$1$${salt.toString('base64')}$${hash.toString('base64')}`;
    await expect(parseUsers(line, 'users').check('u', bytes('pleaseletmein'))).resolves.toBe('full');
  });

  it('never has the same hash twice for one password', async () => {
    expect(await hashPassword('x')).not.toBe(await hashPassword('x'));
  });

  const good = `scrypt$16384$8$1$${'c'.repeat(16)}$${'d'.repeat(32)}`;
  it.each([
    ['ops', 'write name:role:'],
    ['ops:full', 'write name:role:'],
    [`ops:full:${good}:more`, 'write name:role:'],
    [`:full:${good}`, 'the name is empty'],
    [`ops:root:${good}`, 'read-only or full, not "root"'],
    ['ops:full:secret', 'scrypt$N$r$p$salt$hash'],
    [`ops:full:${good}$x`, 'scrypt$N$r$p$salt$hash'],
    [`ops:full:scrypt$1000$8$1$${'c'.repeat(16)}$${'d'.repeat(32)}`, 'power of two'],
    [`ops:full:scrypt$16384$0$1$${'c'.repeat(16)}$${'d'.repeat(32)}`, 'whole numbers'],
    [`ops:full:scrypt$16384$8$17$${'c'.repeat(16)}$${'d'.repeat(32)}`, 'whole numbers'],
    [`ops:full:scrypt$1048576$8$1$${'c'.repeat(16)}$${'d'.repeat(32)}`, '256 MiB'],
    ['ops:full:scrypt$16384$8$1$$', 'base64'],
  ])('refuses the line %s with file and line, and repeats no secret', (line, why) => {
    const parse = () => parseUsers(`# first\n${line}\n`, '/etc/users');
    expect(parse).toThrow(expect.objectContaining({ code: 'BROKER_INVALID', facts: { file: '/etc/users', line: 2 } }));
    expect(parse).toThrow(why);
    expect(parse).toThrow(/^\/etc\/users:2: (?!.*(secret|dddd))/);
  });

  it('refuses a name that is there twice, and a file without users', () => {
    expect(() => parseUsers(`a:full:${good}\na:read-only:${good}`, 'users')).toThrow('users:2: "a" is there twice');
    expect(() => parseUsers('# nobody\n', 'users')).toThrow('users: it names no user');
  });

  it('is read from disk; warns when others may read it; one that is not there is a sentence', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'users-'));
    try {
      const file = join(folder, 'users');
      await writeFile(file, `a:full:${good}\n`, { mode: 0o600 });
      const warned: unknown[] = [];
      const log = { debug: ignore, info: ignore, error: ignore, warn: (facts: unknown) => void warned.push(facts) };
      await loadUsers(file, { log });
      expect(warned).toEqual([]);
      await chmod(file, 0o640);
      await loadUsers(file, { log });
      expect(warned).toEqual([{ file, mode: '640' }]);
      await expect(loadUsers(join(folder, 'none'), { log })).rejects.toThrow(
        expect.objectContaining({ code: 'BROKER_INVALID', message: expect.stringContaining('INFRAKIT_BROKER_USERS') }),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
