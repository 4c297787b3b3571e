import { createHash } from 'node:crypto';
import { failCall } from '../errors.ts';
import { type FunctionTable, fn } from '../signature.ts';
import { toBytes } from '../text/bytes.ts';

const SEED = 'com.lyndir.masterpassword';

/** Shapes of a password of each type: a letter of the shape stands for a set of characters. */
const SHAPES: ReadonlyMap<string, readonly string[]> = new Map([
  ['maximum', ['anoxxxxxxxxxxxxxxxxx', 'axxxxxxxxxxxxxxxxxno']],
  [
    'long',
    (
      'CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv ' +
      'CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv ' +
      'CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno'
    ).split(' '),
  ],
  ['medium', ['CvcnoCvc', 'CvcCvcno']],
  ['short', ['Cvcn']],
  ['basic', ['aaanaaan', 'aannaaan', 'aaannaaa']],
  ['pin', ['nnnn']],
]);

const CHARACTERS: Readonly<Record<string, string>> = {
  V: 'AEIOU',
  C: 'BCDFGHJKLMNPQRSTVWXYZ',
  v: 'aeiou',
  c: 'bcdfghjklmnpqrstvwxyz',
  A: 'AEIOUBCDFGHJKLMNPQRSTVWXYZ',
  a: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz',
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()',
};

const uint32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);

const concat = (...parts: readonly Iterable<number>[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

const sized = (text: string): Uint8Array => concat(uint32(toBytes(text).length), toBytes(text));

const BLOCK = 64;

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

const hmac = (key: Uint8Array, message: Uint8Array): Uint8Array => {
  const block = new Uint8Array(BLOCK);
  block.set(key.length > BLOCK ? sha256(key) : key);
  const inner = sha256(
    concat(
      block.map((byte) => byte ^ 0x36),
      message,
    ),
  );
  return sha256(
    concat(
      block.map((byte) => byte ^ 0x5c),
      inner,
    ),
  );
};

const derivePassword = fn(
  ['uint32', 'string', 'string', 'string', 'string'],
  (run, counter, type, password, user, site) => {
    const shapes = SHAPES.get(type);
    if (shapes === undefined) {
      return `cannot find password template ${type}`;
    }
    const { scrypt } = run.host;
    if (scrypt === undefined) {
      return failCall('there is no scrypt here');
    }
    const salt = concat(toBytes(SEED), sized(user));
    const key = scrypt({
      password: toBytes(password),
      salt,
      cost: 32768,
      blockSize: 8,
      parallelization: 2,
      length: 64,
    });
    const seed = hmac(key, concat(toBytes(SEED), sized(site), uint32(counter)));
    const shape = shapes[(seed[0] ?? 0) % shapes.length] ?? '';
    return Array.from(shape, (letter, i) => {
      const set = CHARACTERS[letter] ?? '';
      return set.charAt((seed[i + 1] ?? 0) % set.length);
    }).join('');
  },
);

/** sprig's functions that make keys and passwords, by means of the host. */
export const KEY_FUNCTIONS: FunctionTable = {
  derivePassword,
  genPrivateKey: fn(['string'], (run, type) =>
    run.host.privateKey === undefined ? failCall('private keys cannot be made here') : run.host.privateKey(type),
  ),
};
