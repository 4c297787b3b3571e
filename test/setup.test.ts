import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closingLine } from './count.mjs';
import { findProgram, programs, requireProgram } from './programs.mjs';
import { decide, withoutDaemons } from './setup.mjs';

const missing = [
  { program: 'mosquitto_pub', package: 'mosquitto-clients' },
  { program: 'mosquitto_sub', package: 'mosquitto-clients' },
];

describe('npm run setup', () => {
  test('does nothing when all is there', () => {
    expect(decide({ missing: [], isRoot: false, hasApt: false })).toEqual({ kind: 'nothing' });
  });

  test('installs only the packages of missing programs, each once, as root', () => {
    expect(decide({ missing, isRoot: true, hasApt: true })).toEqual({
      kind: 'install',
      packages: ['mosquitto-clients'],
    });
  });

  test.each([
    [
      true,
      'Missing: mosquitto_pub, mosquitto_sub. Installing needs root; run: sudo apt-get install -y --no-install-recommends mosquitto-clients',
    ],
    [
      false,
      'Missing: mosquitto_pub, mosquitto_sub. This is not Debian; install what gives these programs (on Debian: apt-get install -y --no-install-recommends mosquitto-clients).',
    ],
  ])('says what to install when it may not (apt: %s)', (hasApt, sentence) => {
    expect(decide({ missing, isRoot: false, hasApt })).toEqual({ kind: 'tell', sentence });
  });
});

describe('while packages are installed no daemon may start', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'infrakit-setup-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('a policy file appears, forbids it, and is gone afterwards, also after a failure', () => {
    const file = join(folder, 'policy');
    const seen = withoutDaemons(file, () => [readFileSync(file, 'utf8'), statSync(file).mode & 0o777]);
    expect(seen).toEqual(['#!/bin/sh\nexit 101\n', 0o755]);
    expect(() =>
      withoutDaemons(file, () => {
        throw new Error('apt');
      }),
    ).toThrow('apt');
    expect(existsSync(file)).toBe(false);
  });

  test('a policy file of the machine comes back with its mode, also when a run before was killed', () => {
    const file = join(folder, 'policy');
    writeFileSync(file, 'mine', { mode: 0o700 });
    withoutDaemons(file, () => {});
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['mine', 0o700]);
    const killed = `${folder}-killed`;
    withoutDaemons(file, () => cpSync(folder, killed, { recursive: true }));
    rmSync(folder, { recursive: true });
    renameSync(killed, folder);
    expect(readFileSync(file, 'utf8')).not.toBe('mine');
    withoutDaemons(file, () => {});
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['mine', 0o700]);
  });
});

describe('programs that tests start', () => {
  test.each(programs)('$program is installed', ({ program }) => {
    expect(requireProgram(program)).toMatch(/^\//);
  });

  test('a missing one is a failure that says to run the set-up', () => {
    expect(findProgram('infrakit-no-such-program')).toBeUndefined();
    expect(() => requireProgram('mosquitto', () => undefined)).toThrow(
      'mosquitto is not installed: run `npm run setup`',
    );
  });

  test('one that the set-up does not know is a failure that says where to add it', () => {
    expect(() => requireProgram('infrakit-no-such-program')).toThrow(/add it there/);
  });
});

describe('the closing line of .ci/run', () => {
  const report = (passed: number, failed: number, ...files: object[]): string =>
    JSON.stringify({ numPassedTests: passed, numFailedTests: failed, testResults: files });

  test.each([
    [report(12, 0), '12 passed, 0 failed'],
    [report(12, 3, { status: 'failed', assertionResults: [{}] }), '12 passed, 3 failed'],
    [report(12, 0, { status: 'failed', assertionResults: [] }), '12 passed, 1 failed'],
    [undefined, '0 passed, 1 failed'],
  ])('counts %s', (text, line) => {
    expect(closingLine(text)).toBe(line);
  });
});
