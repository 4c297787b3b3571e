import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryJournal, memoryStorage, realAfter, testingContext } from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ExecInstance, openExecInstance } from './exec-instance.ts';
import { ExecOptions } from './exec-options.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ctx = testingContext();
const all = { tags: {}, properties: true };
const spec = { Properties: {}, Tags: {}, Init: '', LogicalID: null, Attachments: null };

let folder: string;
let program: string;
let opened: ExecInstance | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'exec-'));
  program = join(folder, 'program');
});
afterEach(async () => {
  await opened?.close(1_000);
  opened = undefined;
  await rm(folder, { recursive: true });
});

/** A program of these lines of sh, as an instance. */
const instanceOf = async (
  script: string,
  options: object = {},
  { storage = memoryStorage(), env = {} }: { storage?: Map<string, string>; env?: Record<string, string> } = {},
) => {
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  opened = await openExecInstance(ExecOptions.parse({ Command: program, Deadline: '5s', Grace: '100ms', ...options }), {
    after: realAfter,
    log,
    stateDir: folder,
    variable: (name) => ({ PATH: process.env.PATH, ...env })[name],
    journal: memoryJournal(storage),
  });
  return opened.instance;
};

/** A killed process that nobody has reaped yet is none. */
const isLiving = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

const pidIn = (name: string) =>
  vi.waitFor(async () => {
    const pid = Number(await readFile(join(folder, name), 'utf8'));
    expect(pid).toBeGreaterThan(1);
    return pid;
  });

describe('a program that hangs (Law 10)', () => {
  const hanging =
    'trap "" TERM\nsleep 60 &\necho $! > $INFRAKIT_STATE_DIR/child\necho $$ > $INFRAKIT_STATE_DIR/pid\nwait; wait; sleep 60';

  test('is killed at its deadline with all that it started, though it ignores SIGTERM', async () => {
    const instance = await instanceOf(hanging, { Deadline: '300ms' });
    await expect(instance.describe(all, ctx)).rejects.toMatchObject({
      code: 'RPC_TIMEOUT',
      message: 'describe: the program did not end within 300 ms',
    });
    for (const name of ['pid', 'child']) {
      const pid = await pidIn(name);
      await vi.waitFor(() => expect(isLiving(pid)).toBe(false));
    }
  });

  test('is killed when its caller gives up, who has an answer at once', async () => {
    const instance = await instanceOf(hanging);
    const caller = new AbortController();
    const call = instance.describe(all, { ...ctx, signal: caller.signal });
    const pid = await pidIn('pid');
    caller.abort();
    await expect(call).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
    await vi.waitFor(() => expect(isLiving(pid)).toBe(false));
  });

  test('is killed when the plugin stops', async () => {
    const instance = await instanceOf(hanging);
    const call = instance.describe(all, ctx).catch((error: unknown) => error);
    const pid = await pidIn('pid');
    await opened?.close(50);
    expect(await call).toMatchObject({ code: 'RPC_CANCELLED' });
    expect(isLiving(pid)).toBe(false);
  });

  test('a program that ends at SIGTERM may clean up', async () => {
    const instance = await instanceOf("trap 'echo done > $INFRAKIT_STATE_DIR/cleaned; exit 1' TERM\nsleep 60 & wait", {
      Deadline: '300ms',
      Grace: '5s',
    });
    await expect(instance.describe(all, ctx)).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
    expect(existsSync(join(folder, 'cleaned'))).toBe(true);
  });
});

describe('what a program prints', () => {
  test.each([
    [
      'echo hello',
      'RESULT_INVALID',
      'describe: stdout must be one JSON object and nothing else, not "hello"; notes belong on stderr',
    ],
    [
      'echo "[]"',
      'RESULT_INVALID',
      'describe: stdout must be one JSON object and nothing else, not "[]"; notes belong on stderr',
    ],
    [
      'echo {}; echo {}',
      'RESULT_INVALID',
      'describe: stdout must be one JSON object and nothing else, not "{}\\n{}"; notes belong on stderr',
    ],
    ['printf "{\\"instances\\":\\"\\377\\"}"', 'RESULT_INVALID', 'describe: what it printed on stdout is not UTF-8'],
    [':', 'RESULT_INVALID', 'describe: the answer must be {"instances": […]}; when there are none, {"instances": []}'],
    [
      `echo '{"instances":[{"Id":"a"}]}'`,
      'RESULT_INVALID',
      'describe: instances[0] has an unknown member "Id"; did you mean ID?',
    ],
    [`echo '{"instances":[{"ID":7}]}'`, 'RESULT_INVALID', 'describe: instances[0].ID must be a text that is not empty'],
    [`echo '{"instances":[{"ID":"a"},{"ID":"a"}]}'`, 'RESULT_INVALID', 'describe: the ID "a" stands twice in the list'],
    [
      `echo '{"instances":[{"ID":"a","Tags":{"n":1}}]}'`,
      'RESULT_INVALID',
      'describe: instances[0].Tags must be an object of texts, or null',
    ],
    [
      `echo '{"instances":[{"ID":"a","Requests":[{}]}]}'`,
      'RESULT_INVALID',
      'describe: instances[0].Requests must be the requests of provision and label as they came',
    ],
    [
      `echo '{"error":{"code":"OOPS","message":"no"}}'; exit 1`,
      'RESULT_INVALID',
      'describe: it answered an error with the code "OOPS"; known are INSTANCE_FAILED, INSTANCE_INVALID, INSTANCE_NOT_FOUND, LABEL_REFUSED, TERM_STALE (message: no)',
    ],
    [
      `echo '{"error":{"code":"INSTANCE_FAILED","message":"the disk is full"}}'; exit 1`,
      'INSTANCE_FAILED',
      'the disk is full',
    ],
    [`echo '{"error":{"code":"INSTANCE_FAILED","message":"the disk is full"}}'`, 'INSTANCE_FAILED', 'the disk is full'],
    [`echo '{"instances":[]}'; exit 1`, 'INSTANCE_FAILED', 'describe: the program ended with exit code 1'],
    ['echo working >&2; echo the disk is full >&2; exit 1', 'INSTANCE_FAILED', 'the disk is full'],
    ['exit 3', 'INSTANCE_FAILED', 'describe: the program ended with exit code 3'],
    ['echo bad >&2; exit 10', 'INSTANCE_INVALID', 'bad'],
    ['exit 11', 'INSTANCE_NOT_FOUND', 'describe: the program ended with exit code 11'],
    ['exit 12', 'LABEL_REFUSED', 'describe: the program ended with exit code 12'],
    ['exit 13', 'TERM_STALE', 'describe: the program ended with exit code 13'],
    [
      'echo "no memory" >&2; kill -SEGV $$',
      'INSTANCE_FAILED',
      'describe: the program was ended by SIGSEGV (its last words: no memory)',
    ],
  ])('%s', async (script, code, message) => {
    const instance = await instanceOf(script);
    await expect(instance.describe(all, ctx)).rejects.toMatchObject({ code, message });
  });

  test('an endless output is ended at MaxOutputBytes', async () => {
    const instance = await instanceOf('yes', { MaxOutputBytes: 100_000 });
    await expect(instance.describe(all, ctx)).rejects.toMatchObject({
      code: 'RESULT_INVALID',
      message: 'describe: it printed more than 100000 bytes on stdout (MaxOutputBytes)',
    });
  });

  test('an endless stderr costs no memory and is ended at the deadline', async () => {
    const instance = await instanceOf('yes >&2', { Deadline: '300ms' });
    await expect(instance.describe(all, ctx)).rejects.toMatchObject({ code: 'RPC_TIMEOUT' });
  });

  test('a large list, and one that comes slowly and in pieces of a character, are whole', async () => {
    const large = await instanceOf(
      `awk 'BEGIN { printf "{\\"instances\\":["; for (n = 0; n < 20000; n++) printf "%s{\\"ID\\":\\"i%d\\"}", n ? "," : "", n; print "]}" }'`,
    );
    const list = await large.describe(all, ctx);
    expect(list.kind === 'instances' && list.instances.length).toBe(20_000);
    await opened?.close(0);
    const slow = await instanceOf(
      `printf '{"instances":[{"ID":"\\303'; sleep 0.1; printf '\\244"}'; sleep 0.1; printf ']}'`,
    );
    expect(await slow.describe(all, ctx)).toMatchObject({ instances: [{ ID: 'ä' }] });
  });

  test('what it leaves running with its stdout open holds nobody up, and lives on', async () => {
    const instance = await instanceOf(`sleep 60 & echo $! > $INFRAKIT_STATE_DIR/child; echo '{"id":"a"}'`);
    expect(await instance.provision({ spec }, ctx)).toEqual({ id: 'a' });
    const pid = await pidIn('child');
    expect(isLiving(pid)).toBe(true);
    process.kill(pid);
  });
});

describe('what a program is given', () => {
  test('one line of JSON with the parameters, the key and the term; the short facts are variables', async () => {
    const instance = await instanceOf(
      'cat > $INFRAKIT_STATE_DIR/request; env > $INFRAKIT_STATE_DIR/env; echo $@ > $INFRAKIT_STATE_DIR/args',
      {
        Args: ['--fast', '$(id)'],
        Env: ['PATH', 'ALLOWED', 'MISSING'],
      },
      { env: { ALLOWED: 'yes', SECRET: 'no' } },
    );
    const fencing = { scope: 'stack/group', term: 7 };
    await instance.destroy(
      { id: 'a b', context: { Reason: 'terminate' } },
      { ...ctx, idempotencyKey: 'k', fencing, trace: 't' },
    );
    const request = await readFile(join(folder, 'request'), 'utf8');
    expect(request.endsWith('}\n') && request.indexOf('\n') === request.length - 1).toBe(true);
    expect(JSON.parse(request)).toEqual({
      protocol: 1,
      verb: 'destroy',
      params: { id: 'a b', context: { Reason: 'terminate' } },
      context: { timeoutMs: 5_000, idempotencyKey: 'k', fencing, trace: 't' },
    });
    expect(await readFile(join(folder, 'args'), 'utf8')).toBe('--fast $(id) destroy\n');
    const env = (await readFile(join(folder, 'env'), 'utf8'))
      .split('\n')
      .filter((line) => !/^(_|PWD|OLDPWD|SHLVL|PATH|)=|^$/.test(line));
    expect(env.sort()).toEqual([
      'ALLOWED=yes',
      'INFRAKIT_ID=a b',
      'INFRAKIT_IDEMPOTENCY_KEY=k',
      `INFRAKIT_STATE_DIR=${folder}`,
      'INFRAKIT_TERM=7',
      'INFRAKIT_TERM_SCOPE=stack/group',
    ]);
  });

  test('more than a pipe holds, though the program closes its stdin unread', async () => {
    const instance = await instanceOf(`exec <&-; echo '{"id":"a"}'`);
    const large = { ...spec, Init: 'x'.repeat(4 * 2 ** 20) };
    for (let n = 0; n < 5; n += 1) expect(await instance.provision({ spec: large }, ctx)).toEqual({ id: 'a' });
  });

  test('an id with a NUL or of a megabyte is no variable, and no crash', async () => {
    const instance = await instanceOf('[ -z "$INFRAKIT_ID" ] || exit 1; exit 11');
    for (const id of ['a\0b', 'x'.repeat(2 ** 20)]) {
      await expect(instance.destroy({ id, context: { Reason: 'r' } }, ctx)).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
      });
    }
  });

  test('each line of its stderr is progress', async () => {
    const instance = await instanceOf(`echo one >&2; echo two >&2; echo '{"id":"a"}'`);
    const notes: string[] = [];
    await instance.provision({ spec }, { ...ctx, progress: ({ message }) => notes.push(message) });
    expect(notes).toEqual(['one', 'two']);
  });
});

test.each([
  ['/no/such/program', 'there is no program /no/such/program'],
  ['no-such-program', 'there is no program no-such-program'],
])('%s cannot be started: one sentence', async (Command, message) => {
  const instance = await instanceOf(':', { Command });
  await expect(instance.describe(all, ctx)).rejects.toMatchObject({ code: 'INSTANCE_FAILED', message });
});

test('a file that is not executable is one sentence', async () => {
  const instance = await instanceOf(':');
  await chmod(program, 0o644);
  await expect(instance.describe(all, ctx)).rejects.toMatchObject({
    code: 'INSTANCE_FAILED',
    message: `${program} may not be executed; is its x bit set?`,
  });
});

test('100 calls at once run four at a time, all are answered, and one that gives up waiting never begins', async () => {
  const instance = await instanceOf(
    [
      'read -r request',
      'mkdir -p $INFRAKIT_STATE_DIR/now; echo > $INFRAKIT_STATE_DIR/now/$$',
      'ls $INFRAKIT_STATE_DIR/now | wc -l >> $INFRAKIT_STATE_DIR/counts',
      'sleep 0.01; rm $INFRAKIT_STATE_DIR/now/$$',
      `echo "{\\"id\\":\\"$$\\"}"`,
    ].join('\n'),
    { Concurrency: 4 },
  );
  const caller = new AbortController();
  const calls = Array.from({ length: 100 }, () => instance.provision({ spec }, ctx));
  const late = instance.provision({ spec }, { ...ctx, signal: caller.signal });
  caller.abort();
  await expect(late).rejects.toMatchObject({ code: 'RPC_CANCELLED' });
  expect(await Promise.all(calls)).toHaveLength(100);
  const counts = (await readFile(join(folder, 'counts'), 'utf8')).trim().split('\n').map(Number);
  expect(counts).toHaveLength(100);
  expect(Math.max(...counts)).toBeLessThanOrEqual(4);
  expect(Math.max(...counts)).toBeGreaterThan(1);
});

test('Law 12: an older term is refused over a restart too, and never reaches the program', async () => {
  const storage = memoryStorage();
  const script = `echo run >> $INFRAKIT_STATE_DIR/runs; echo '{"id":"a"}'`;
  const first = await instanceOf(script, {}, { storage });
  await first.provision({ spec }, { ...ctx, fencing: { scope: 's', term: 3 } });
  await opened?.close(0);
  const second = await instanceOf(script, {}, { storage });
  await expect(second.provision({ spec }, { ...ctx, fencing: { scope: 's', term: 2 } })).rejects.toMatchObject({
    code: 'TERM_STALE',
  });
  expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\n');
});

test('an idle describe gives the very same list; what is in another order is the same list', async () => {
  const instance = await instanceOf(`cat $INFRAKIT_STATE_DIR/list`);
  const print = (ids: string[]) =>
    writeFile(join(folder, 'list'), JSON.stringify({ instances: ids.map((ID) => ({ ID })) }));
  await print(['a', 'b']);
  const first = await instance.describe(all, ctx);
  expect(await instance.describe(all, ctx)).toBe(first);
  await print(['b', 'a']);
  expect(await instance.describe(all, ctx)).toBe(first);
  expect(await instance.describe({ ...all, digest: first.digest }, ctx)).toEqual({
    kind: 'unchanged',
    digest: first.digest,
  });
  await print(['a']);
  expect(await instance.describe({ ...all, digest: first.digest }, ctx)).toMatchObject({
    kind: 'instances',
    instances: [{ ID: 'a' }],
  });
});
