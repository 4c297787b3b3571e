import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import type { Log } from '@infrakit/spi';
import type { BrokerRole } from './broker-rights.ts';

interface PasswordHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Who may log in at the embedded broker. */
export interface BrokerUsers {
  /** The role of a user whose password this is. Takes as long for an unknown name as for a wrong password. */
  readonly check: (name: string, password: Uint8Array) => Promise<BrokerRole | undefined>;
}

const cost = 16_384;
const blockSize = 8;
const parallelization = 1;
const hashBytes = 32;
/** The most that one check may take: `128 · N · r` bytes. */
const maxMemoryBytes = 256 * 1024 * 1024;

const derive = (password: Uint8Array, { cost: N, blockSize: r, parallelization: p, salt, hash }: PasswordHash) =>
  new Promise<Buffer>((resolve, reject) =>
    scrypt(password, salt, hash.length, { N, r, p, maxmem: maxMemoryBytes + 1024 * 1024 }, (error, derived) =>
      error === null ? resolve(derived) : reject(error),
    ),
  );

const blank = (salt: Buffer): PasswordHash => ({
  cost,
  blockSize,
  parallelization,
  salt,
  hash: Buffer.alloc(hashBytes),
});

/** The last field of a line of the users file for a password: `scrypt$N$r$p$salt$hash`, with a new salt each time. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(16);
  const hash = await derive(Buffer.from(password), blank(salt));
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64'), hash.toString('base64')].join('$');
};

const isPowerOfTwo = (value: number): boolean => value > 1 && Number.isInteger(Math.log2(value));

const parseHash = (text: string): PasswordHash | string => {
  const [scheme, n, r, p, salt = '', hash = '', ...more] = text.split('$');
  if (scheme !== 'scrypt' || more.length > 0) return 'the password must be written as scrypt$N$r$p$salt$hash';
  const [N, R, P] = [Number(n), Number(r), Number(p)];
  if (!isPowerOfTwo(N) || !(Number.isInteger(R) && R > 0) || !(Number.isInteger(P) && P > 0 && P <= 16)) {
    return 'N must be a power of two, r and p whole numbers from 1 (p to 16)';
  }
  if (128 * N * R > maxMemoryBytes) return 'N and r ask for more than 256 MiB';
  const [saltBytes, bytes] = [Buffer.from(salt, 'base64'), Buffer.from(hash, 'base64')];
  if (saltBytes.length < 8 || bytes.length < 16) return 'salt (8 bytes at least) and hash (16) must be base64';
  return { cost: N, blockSize: R, parallelization: P, salt: saltBytes, hash: bytes };
};

const parseLine = (line: string): { name: string; role: BrokerRole; hash: PasswordHash } | string => {
  const [name = '', role, text, ...more] = line.split(':');
  if (text === undefined || more.length > 0) return 'write name:role:scrypt$N$r$p$salt$hash';
  if (name === '') return 'the name is empty';
  if (role !== 'read-only' && role !== 'full') return `the role must be read-only or full, not "${role}"`;
  const hash = parseHash(text);
  return typeof hash === 'string' ? hash : { name, role, hash };
};

/**
 * The users of a file's text: one a line, `name:role:scrypt$N$r$p$salt$hash`, role `read-only` or `full`; empty lines and
 * lines that begin with `#` are skipped. Errors: `BROKER_INVALID`, naming file and line, never repeating a hash.
 */
export const parseUsers = (text: string, file: string): BrokerUsers => {
  const users = new Map<string, { readonly role: BrokerRole; readonly hash: PasswordHash }>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (line.trim() === '' || line.startsWith('#')) continue;
    const user = parseLine(line);
    const fault = typeof user === 'string' ? user : users.has(user.name) ? `"${user.name}" is there twice` : undefined;
    if (fault !== undefined || typeof user === 'string') {
      throw new AppError('BROKER_INVALID', `${file}:${index + 1}: ${fault}`, { facts: { file, line: index + 1 } });
    }
    users.set(user.name, user);
  }
  if (users.size === 0) throw new AppError('BROKER_INVALID', `${file}: it names no user`, { facts: { file } });
  const decoy = blank(randomBytes(16));
  return {
    check: async (name, password) => {
      const user = users.get(name);
      const { hash } = user ?? { hash: decoy };
      const isRight = timingSafeEqual(await derive(password, hash), hash.hash);
      return isRight ? user?.role : undefined;
    },
  };
};

/**
 * Reads the users file (`INFRAKIT_BROKER_USERS`). Warns when others than its owner may read it. Errors: `BROKER_INVALID`
 * for a file that cannot be read or has a bad line.
 */
export const loadUsers = async (file: string, { log }: { readonly log: Log }): Promise<BrokerUsers> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      log.warn({ file, mode: (mode & 0o777).toString(8) }, 'others may read the users file: chmod 600 it');
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('BROKER_INVALID', `INFRAKIT_BROKER_USERS: the users file cannot be read: ${why}`, {
      facts: { file },
      cause,
    });
  }
  return parseUsers(text, file);
};
