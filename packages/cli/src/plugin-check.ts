import { plain, readDocument } from '@infrakit/document';
import { type CheckedCase, checkProgram, ExecOptions } from '@infrakit/plugin-exec';
import { realAfter } from '@infrakit/spi';
import type { CommandContext, RunCommand } from './command-context.ts';
import { commandLine, runCommandLine } from './command-line.ts';
import { exits, usageError } from './exit.ts';
import { readSource } from './source-text.ts';

interface CheckFlags {
  readonly properties?: string;
  readonly invalidProperties?: string;
  readonly logicalId: boolean;
  readonly keys: boolean;
  readonly eventually?: boolean;
  readonly env?: string;
  readonly deadline?: string;
  readonly longList: string;
  readonly only?: string;
}

const readValue = async (file: string, { streams }: CommandContext): Promise<unknown> => {
  const { text, name } = await readSource(file, streams.stdin);
  return plain(readDocument(text, { file: name }).root);
};

const linesOf = (result: CheckedCase): string[] => {
  const { name, cites } = result;
  if (result.kind === 'passed') return [`ok    ${name}`];
  if (result.kind === 'skipped') return [`skip  ${name}: ${result.reason}`];
  const mend = result.mend === undefined ? [] : [`      ${result.mend}`];
  return [`FAIL  ${name} (${cites})`, `      ${result.failure}`, ...mend];
};

const longListOf = (text: string): number => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw usageError(`--long-list takes a number from 1, not ${JSON.stringify(text)}`);
};

const optionsOf = ([Command, ...Args]: readonly string[], { env, deadline }: CheckFlags) => {
  const given = {
    Command: Command ?? '',
    Args,
    ...(env !== undefined && { Env: env.split(',') }),
    ...(deadline !== undefined && { Deadline: deadline }),
  };
  const parsed = ExecOptions.safeParse(given);
  if (parsed.success) return given;
  throw usageError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
};

const checkExec = async (words: readonly string[], flags: CheckFlags, context: CommandContext): Promise<number> => {
  const { streams, env } = context;
  const { properties, invalidProperties, only } = flags;
  const results = await checkProgram(
    {
      options: optionsOf(words, flags),
      properties: properties === undefined ? {} : await readValue(properties, context),
      ...(invalidProperties !== undefined && { invalidProperties: await readValue(invalidProperties, context) }),
      keepsLogicalId: flags.logicalId,
      hasIdempotencyKeys: flags.keys,
      isEventuallyConsistent: flags.eventually === true,
      longList: longListOf(flags.longList),
      ...(only !== undefined && { only }),
    },
    {
      after: realAfter,
      caseTimeoutMs: 120_000,
      callTimeoutMs: 60_000,
      variable: (name) => env[name],
      signal: context.signal,
      onCase: (result) => streams.stdout.write(`${linesOf(result).join('\n')}\n`),
    },
  );
  const count = (kind: CheckedCase['kind']): number => results.filter((result) => result.kind === kind).length;
  const counts = `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} not checked`;
  streams.stdout.write(`${counts}\n`);
  return count('failed') === 0 ? exits.done : exits.failed;
};

/** `infrakit plugin check exec <command> [args…]`: a program against the instance contract; 0 when all of it holds, else 1. */
export const runCheck: RunCommand = ([kind, ...words], context) => {
  const command = commandLine(
    'infrakit plugin check exec',
    {
      summary:
        'check a program against the contract of instance plugins, and tell what to mend; it makes and destroys instances',
      example: 'infrakit plugin check exec --properties good.yml ./my-plugin.sh',
    },
    context.streams,
  )
    .passThroughOptions()
    .option('--properties <file>', 'properties that can be provisioned, YAML or JSON; {} without')
    .option('--invalid-properties <file>', 'properties that must be refused')
    .option('--no-logical-id', 'the program does not keep logical ids')
    .option('--no-keys', 'the program does not honour idempotency keys')
    .option('--eventually', 'describe shows a change only after a while')
    .option('--env <names>', 'variables that the program sees, separated by commas')
    .option('--deadline <duration>', 'how long one run may take')
    .option('--long-list <n>', 'how many instances the case about long lists makes', '25')
    .option('--only <text>', 'only the cases whose names hold this text')
    .argument('<command>', 'the program')
    .argument('[args...]', 'its arguments before the verb');
  const isHelp = kind === '-h' || kind === '--help';
  if (kind !== 'exec' && !isHelp) {
    throw usageError(`plugin check takes exec and a program, not ${kind ?? 'nothing'}`);
  }
  return runCommandLine(command, isHelp ? ['-h'] : words, () => checkExec(command.args, command.opts(), context));
};
