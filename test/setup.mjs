// Installs the Debian packages whose programs the tests start. Runs before any build: plain Node, no dependencies.
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findProgram, programs } from './programs.mjs';

/**
 * What to do about missing programs: nothing, install packages, or tell the user what to install.
 * @param {{ missing: readonly { program: string, package: string }[], isRoot: boolean, hasApt: boolean }} state
 * @returns {{ kind: 'nothing' } | { kind: 'install', packages: string[] } | { kind: 'tell', sentence: string }}
 */
export const decide = ({ missing, isRoot, hasApt }) => {
  if (missing.length === 0) return { kind: 'nothing' };
  const packages = [...new Set(missing.map((entry) => entry.package))];
  if (isRoot && hasApt) return { kind: 'install', packages };
  const names = missing.map((entry) => entry.program).join(', ');
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  return {
    kind: 'tell',
    sentence: hasApt
      ? `Missing: ${names}. Installing needs root; run: sudo ${command}`
      : `Missing: ${names}. This is not Debian; install what gives these programs (on Debian: ${command}).`,
  };
};

/**
 * Runs `work` while packages may start no daemon, then puts the policy file back as it was, also when `work` throws.
 * @template T
 * @param {string} policyFile
 * @param {() => T} work
 * @returns {T}
 */
export const withoutDaemons = (policyFile, work) => {
  const saved = `${policyFile}.infrakit-saved`;
  // A saved file that is still here is the original from before a run that was killed.
  if (existsSync(policyFile) && !existsSync(saved)) renameSync(policyFile, saved);
  writeFileSync(policyFile, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return work();
  } finally {
    if (existsSync(saved)) renameSync(saved, policyFile);
    else rmSync(policyFile, { force: true });
  }
};

const missingPrograms = () => programs.filter((entry) => findProgram(entry.program) === undefined);

/** @param {string[]} args */
const apt = (args) => {
  const all = ['-o', 'DPkg::Lock::Timeout=300', ...args];
  console.log(`setup: apt-get ${all.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status } = spawnSync('apt-get', all, { stdio: ['ignore', 'inherit', 'inherit'], env });
  return status === 0;
};

/** @param {string[]} packages */
const install = (packages) => {
  // A signal ends apt-get, not this process: the policy file must still be put back.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  return withoutDaemons(
    '/usr/sbin/policy-rc.d',
    () => apt(['update', '-q']) && apt(['install', '-q', '-y', '--no-install-recommends', ...packages]),
  );
};

/** @returns {number} the exit code */
const main = () => {
  const isRoot = process.getuid?.() === 0;
  const decision = decide({ missing: missingPrograms(), isRoot, hasApt: findProgram('apt-get') !== undefined });
  if (decision.kind === 'nothing') {
    console.log('setup: every program the tests start is installed, nothing to do');
    return 0;
  }
  if (decision.kind === 'tell') {
    console.error(`setup: ${decision.sentence}`);
    return 1;
  }
  console.log(`setup: installing ${decision.packages.join(', ')} (daemons are not started)`);
  const isInstalled = install(decision.packages);
  const still = missingPrograms().map((entry) => entry.program);
  if (!isInstalled || still.length > 0) {
    console.error(`setup: the installation failed${still.length > 0 ? `; still missing: ${still.join(', ')}` : ''}`);
    return 1;
  }
  console.log('setup: done');
  return 0;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
