import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Every program that tests start and the Debian package it comes from. `npm run setup` installs what is missing.
 * @type {readonly { program: string, package: string }[]}
 */
export const programs = [
  { program: 'mosquitto', package: 'mosquitto' },
  { program: 'mosquitto_pub', package: 'mosquitto-clients' },
  { program: 'mosquitto_sub', package: 'mosquitto-clients' },
  { program: 'openssl', package: 'openssl' },
  { program: 'docker-compose', package: 'docker-compose' },
  { program: 'exportfs', package: 'nfs-kernel-server' },
  { program: 'runc', package: 'runc' },
  { program: 'podman', package: 'podman' },
  { program: 'netavark', package: 'netavark' },
  { program: 'aardvark-dns', package: 'aardvark-dns' },
  { program: 'iptables', package: 'iptables' },
  { program: 'busybox', package: 'busybox-static' },
];

/** Daemons live in sbin, which is not on every user's PATH; what podman alone starts is in a folder of its own. */
const daemonFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/lib/podman', '/usr/libexec/podman'];

/** @param {string} file */
const isExecutable = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The full path of a program on PATH or in a folder of daemons, or undefined.
 * @param {string} name
 * @param {string} [path] folders to search first, separated as in PATH
 */
export const findProgram = (name, path = process.env.PATH ?? '') =>
  [...path.split(delimiter).filter((folder) => folder !== ''), ...daemonFolders]
    .map((folder) => join(folder, name))
    .find(isExecutable);

/**
 * The full path of a program that a test starts. A missing one is a failure, never a skip.
 * @param {string} name a program of the table
 * @param {(name: string) => string | undefined} [find]
 * @returns {string}
 */
export const requireProgram = (name, find = findProgram) => {
  if (!programs.some((entry) => entry.program === name)) {
    throw new Error(
      `${name} is not in the table of test/programs.mjs: add it there, so that npm run setup installs it`,
    );
  }
  const found = find(name);
  if (found === undefined) throw new Error(`${name} is not installed: run \`npm run setup\``);
  return found;
};
