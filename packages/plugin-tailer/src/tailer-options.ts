import { z } from 'zod';

/** A file to follow (GP §3.4). */
const Rule = z.strictObject({
  Path: z.string().min(1),
  /** Follow the new file when this one is rotated away. */
  ReOpen: z.boolean().default(true),
  /** Refuse to start without the file. */
  MustExist: z.boolean().default(false),
  /** Accepted for old option files: a pipe is read like a file. */
  Pipe: z.boolean().default(false),
});

/** Start options of a tailer: the files, each once. */
export const TailerOptions = z.strictObject({
  Files: z
    .array(Rule)
    .min(1)
    .superRefine((rules, ctx) => {
      rules.forEach(({ Path }, at) => {
        if (rules.findIndex((other) => other.Path === Path) !== at) {
          ctx.addIssue({ code: 'custom', message: `duplicate path: ${Path}`, path: [at, 'Path'] });
        }
      });
    }),
});
export type TailerOptions = z.infer<typeof TailerOptions>;
