import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instanceContract, realAfter } from '@infrakit/spi';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { advice } from './check-advice.ts';
import { checkProgram } from './check-program.ts';

const good = await readFile(new URL('../examples/folder.sh', import.meta.url), 'utf8');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'check-'));
});
afterEach(() => rm(folder, { recursive: true }));

const check = async (script: string, more: { invalidProperties?: unknown; only?: string } = {}) => {
  const Command = join(folder, 'program');
  await writeFile(Command, script);
  await chmod(Command, 0o755);
  const results = await checkProgram(
    {
      options: { Command, Deadline: '2s', Grace: '100ms' },
      properties: { size: 1 },
      ...more,
      keepsLogicalId: true,
      hasIdempotencyKeys: true,
      isEventuallyConsistent: false,
      longList: 5,
    },
    { after: realAfter, variable: (name) => process.env[name] },
  );
  return {
    results,
    failures: Object.fromEntries(
      results.flatMap((result) => (result.kind === 'failed' ? [[result.name, result.failure]] : [])),
    ),
  };
};

/** The good example with one thing done wrong. */
const but = (text: string, instead: string): string => {
  if (!good.includes(text)) throw new Error(`the example has no ${text}`);
  return good.replaceAll(text, () => instead);
};

const cannotSpeak: readonly (readonly [what: string, script: string, failures: Readonly<Record<string, string>>])[] = [
  [
    'prints notes on stdout',
    but('set -eu', 'set -eu\necho starting'),
    {
      'the program answers validate':
        'RESULT_INVALID: validate: stdout must be one JSON object and nothing else, not "starting"; notes belong on stderr',
    },
  ],
  [
    'hangs in describe',
    but('  describe)', '  describe)\n    sleep 30'),
    { 'the program answers describe': 'RPC_TIMEOUT: describe: the program did not end within 2000 ms' },
  ],
  [
    'prints a bare list',
    but(`printf '{"instances":['`, "printf '['").replace("printf ']}", "printf ']"),
    {
      'the program answers describe':
        'RESULT_INVALID: describe: stdout must be one JSON object and nothing else, not "[]"; notes belong on stderr',
    },
  ],
  [
    'takes any verb',
    but('*) fail 1 "unknown verb ${1:-}" ;;', '*) ;;'),
    { 'the program refuses a verb that it does not know': 'the verb no-such-verb ended with exit code 0' },
  ],
  [
    'crashes in validate',
    but('validate) ;;', 'validate) kill -SEGV $$ ;;'),
    { 'the program answers validate': 'INSTANCE_FAILED: validate: the program was ended by SIGSEGV' },
  ],
];

const breaksContract: readonly (readonly [what: string, script: string, failing: string, why: RegExp])[] = [
  [
    'ignores idempotency keys',
    but('key=${INFRAKIT_IDEMPOTENCY_KEY:-none}', 'key=none'),
    'the same key gives the living instance',
    /^the id that a second provision with the same idempotency key answers must be "none\..+", not "none\./,
  ],
  [
    'gives every instance without a key the same id',
    but('id=$key.${new##*.}', 'id=$key.$([ "$key" = none ] || echo "${new##*.}")'),
    'provisions without a key make one instance each',
    /^the number of ids that three provisions without a key give must be 3, not 1$/,
  ],
  [
    'answers another id than it shows',
    but(`printf '{"id":"%s"}\\n' "$id"`, `printf '{"id":"x%s"}\\n' "$id"`),
    'a provisioned instance is described with its id and tags',
    /^describe must show the instance xnone\..+ that provision answered$/,
  ],
  [
    'answers no id',
    but(`printf '{"id":"%s"}\\n' "$id"`, ':'),
    'a provisioned instance is described with its id and tags',
    /^RESULT_INVALID: provision: the answer must be \{"id": "…"\} with a text that is not empty, not undefined$/,
  ],
  [
    'succeeds to destroy what is not there',
    but('    file=$(file)\n    rm "$file"', '    rm -f "$dir/$INFRAKIT_ID"'),
    'destroy of an unknown id is refused',
    /^a second destroy of an instance must be refused with INSTANCE_NOT_FOUND; it succeeded$/,
  ],
  [
    'fails to destroy what is not there, without saying so',
    but('fail 11', 'fail 1'),
    'destroy of an unknown id is refused',
    /must be refused with INSTANCE_NOT_FOUND, not INSTANCE_FAILED: there is no instance/,
  ],
  [
    'destroys everything',
    but('rm "$file"', 'rm "$dir"/*'),
    'destroy removes the instance and no other',
    /^the ids after one destroy of three must be \[.+,.+\], not \[\]$/,
  ],
  [
    'destroys nothing',
    but('rm "$file"', ':'),
    'destroy removes the instance and no other',
    /^the ids after one destroy of three must be \["[^,]+","[^,]+"\], not \["[^,]+","[^,]+","[^,]+"\]$/,
  ],
  [
    'forgets labels',
    but('cat "$file" - >"$new"', 'cat "$file" >"$new"'),
    'label adds and overwrites, and removes nothing',
    /^a tag that label was told to change must be "new", not "old"$/,
  ],
  [
    'lists a page of two',
    but(
      '[ -f "$file" ] || continue',
      '[ -f "$file" ] || continue; page=$((${page:-0} + 1)); [ "$page" -le 2 ] || break',
    ),
    'a long list is complete and repeats nothing',
    /^a list of 5 must be complete; [34] are missing$/,
  ],
  [
    'prints the time',
    but('"Requests":[%s]}', '"State":"at \'"$(date +%N)"\'","Requests":[%s]}'),
    'the newest digest is answered with "unchanged"',
    /^the answer to the newest digest while nothing changes must be \{"kind":"unchanged"/,
  ],
  [
    'keeps nothing but in the process',
    but('dir=${INFRAKIT_STATE_DIR:?is where the files are kept}', 'dir=$(mktemp -d "$INFRAKIT_STATE_DIR/XXXXXX")'),
    'instances outlive a restart',
    /^the ids after a restart of the plugin must be \["none\..+"\], not \[\]$/,
  ],
  [
    'keeps the instances of dead keys',
    but('rm "$file"', 'mv "$file" "$dir/.dead.$INFRAKIT_ID"').replaceAll(
      '"$dir/$key".*',
      '"$dir/$key".* "$dir/.dead.$key".*',
    ),
    'a key whose instance was destroyed makes a new one',
    /^the ids after a destroy and a provision with the same key must be \["\.dead\..+"\], not \[\]$/,
  ],
];

describe('checkProgram', () => {
  test('the good example passes all that can be checked', async () => {
    const { results, failures } = await check(good);
    expect(failures).toEqual({});
    expect(results.filter(({ kind }) => kind === 'passed').length).toBeGreaterThan(25);
  });

  test.each(cannotSpeak)(
    'a program that %s fails at the first look, and nothing else is tried',
    async (_, script, expected) => {
      const { results, failures } = await check(script);
      expect(failures).toMatchObject(expected);
      expect(results).toHaveLength(3);
    },
  );

  test.each(breaksContract)(
    'a program that %s fails for that reason, with words on what to mend',
    async (_, script, name, why) => {
      const { results, failures } = await check(script, { only: name });
      expect(failures[name]).toMatch(why);
      expect(results.find((result) => result.name === name)).toMatchObject({ kind: 'failed', mend: advice[name] });
    },
  );

  test('a program that takes invalid properties fails for that', async () => {
    const { failures } = await check(good, { invalidProperties: { size: -1 }, only: 'invalid' });
    expect(failures).toEqual({
      'validate refuses invalid properties':
        'validate of invalid properties must be refused with INSTANCE_INVALID; it succeeded',
      'provision of invalid properties makes nothing':
        'provision with invalid properties must be refused with INSTANCE_INVALID; it succeeded',
    });
  });

  test('a program that cannot label says so and passes', async () => {
    const { failures } = await check(but('  label)', '  label)\n    fail 12 "cannot be relabelled"'), {
      only: 'label',
    });
    expect(failures).toEqual({});
  });

  test('what is advised is a case of the contract', () => {
    const names = instanceContract.cases.map(({ name }) => name);
    expect(Object.keys(advice).filter((name) => !names.includes(name))).toEqual([]);
  });
});
