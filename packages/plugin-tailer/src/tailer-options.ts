import { resolve } from 'node:path';
import { z } from 'zod';

/** A file to follow (GP §3.4). */
const Rule = z.strictObject({
  Path: z.string().min(1),
  /** Follow the new file when this one is rotated away. */
  ReOpen: z.boolean().default(true),
  /** Refuse to start without the file. */
  MustExist: z.boolean().default(false),
  /** It is a named pipe. */
  Pipe: z.boolean().default(false),
});

/** Start options of a tailer: the files, each once; without any it is `test.log` in the folder where it is started. */
export const TailerOptions = z.strictObject({
  Files: z
    .array(Rule)
    .min(1)
    .prefault(() => [{ Path: resolve('test.log') }])
    .superRefine((rules, ctx) => {
      rules.forEach(({ Path }, at) => {
        if (rules.findIndex((other) => other.Path === Path) !== at) {
          ctx.addIssue({ code: 'custom', message: `duplicate path: ${Path}`, path: [at, 'Path'] });
        }
      });
    }),
});
export type TailerOptions = z.infer<typeof TailerOptions>;
