import { Duration } from '@infrakit/core';
import { z } from 'zod';

/** A delay: Go duration text, or integer nanoseconds as the old options had it (GP-P2). Milliseconds inside. */
const Delay = z.union([
  Duration,
  z
    .number()
    .int()
    .min(0)
    .transform((ns) => ns / 1e6),
]);

/** Start options of a simulator (GP §2.10). */
export const SimulatorOptions = z.strictObject({
  /** `file` keeps everything through kill -9; `mem` forgets with the process. */
  Store: z.enum(['file', 'mem']).default('file'),
  InstanceTypes: z.array(z.string().min(1)).default(['compute', 'net', 'disk']),
  L4Names: z.array(z.string().min(1)).default(['lb1', 'lb2', 'lb3']),
  StartDelay: Delay.default(0),
  DescribeDelay: Delay.default(0),
  ProvisionDelay: Delay.default(0),
  DestroyDelay: Delay.default(0),
  /** The part of provisions, destroys and describes that fail, 0 to 1. */
  ErrorRate: z.number().min(0).max(1).default(0),
});
export type SimulatorOptions = z.infer<typeof SimulatorOptions>;

type Input = Partial<z.input<typeof SimulatorOptions>>;

const list = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** The options by environment variable; a value that does not fit is for the host to report (EI-E23). */
export const simulatorEnvironment: Readonly<Record<string, (text: string) => Input>> = {
  INFRAKIT_SIMULATOR_STORE: (text) => ({ Store: z.enum(['file', 'mem']).parse(text) }),
  INFRAKIT_SIMULATOR_INSTANCE_TYPES: (text) => ({ InstanceTypes: list(text) }),
  INFRAKIT_SIMULATOR_L4_NAMES: (text) => ({ L4Names: list(text) }),
  INFRAKIT_SIMULATOR_START_DELAY: (text) => ({ StartDelay: text }),
  INFRAKIT_SIMULATOR_DESCRIBE_DELAY: (text) => ({ DescribeDelay: text }),
  INFRAKIT_SIMULATOR_PROVISION_DELAY: (text) => ({ ProvisionDelay: text }),
  INFRAKIT_SIMULATOR_DESTROY_DELAY: (text) => ({ DestroyDelay: text }),
  INFRAKIT_SIMULATOR_ERROR_RATE: (text) => ({ ErrorRate: Number(text) }),
};
