import { Duration } from '@infrakit/core';
import { z } from 'zod';

const most = 2 ** 30;

/** Start options of a program as a plugin. */
export const ExecOptions = z.strictObject({
  Command: z.string().min(1).describe('The program: a path, or a name that `PATH` leads to. No shell is between.'),
  Args: z.array(z.string()).default([]).describe('Arguments before the verb.'),
  Env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be names of variables' }))
    .default(['PATH', 'HOME', 'LANG', 'TZ'])
    .describe('Variables of the host that the program sees. Nothing else of the environment reaches it.'),
  Deadline: Duration.default(60_000).describe(
    'How long one run may take, before the program and its children are ended.',
  ),
  Grace: Duration.default(2_000).describe('Between SIGTERM and SIGKILL.'),
  Concurrency: z.number().int().min(1).max(1_000).default(4).describe('Runs at once; more calls wait their turn.'),
  MaxOutputBytes: z
    .number()
    .int()
    .min(1)
    .max(most)
    .default(16 * 2 ** 20)
    .describe('The most that one run may print on stdout.'),
});
export type ExecOptions = z.infer<typeof ExecOptions>;

/** The options by environment variable. */
export const execEnvironment: Readonly<Record<string, (text: string) => Partial<z.input<typeof ExecOptions>>>> = {
  INFRAKIT_EXEC_COMMAND: (text) => ({ Command: text }),
  INFRAKIT_EXEC_ARGS: (text) => ({ Args: z.array(z.string()).parse(JSON.parse(text)) }),
  INFRAKIT_EXEC_ENV: (text) => ({ Env: text.split(',').filter((name) => name !== '') }),
  INFRAKIT_EXEC_DEADLINE: (text) => ({ Deadline: text }),
  INFRAKIT_EXEC_GRACE: (text) => ({ Grace: text }),
  INFRAKIT_EXEC_CONCURRENCY: (text) => ({ Concurrency: Number(text) }),
  INFRAKIT_EXEC_MAX_OUTPUT_BYTES: (text) => ({ MaxOutputBytes: Number(text) }),
};
