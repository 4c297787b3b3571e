import { parseDuration } from '@infrakit/core';
import { parseProperties } from '@infrakit/document';
import { z } from 'zod';

const Bytes = z.union([
  z.number().int().min(1),
  z.string().regex(/^\d+(\.\d+)?[kmg]?b?$/i, { error: 'must be a size such as 512m or 2g' }),
]);

/** A duration of the spec language. */
export const Duration = z.string().refine(
  (text) => {
    try {
      return parseDuration(text) >= 0;
    } catch {
      return false;
    }
  },
  { error: 'must be a duration such as 10s' },
);

const Port = z.number().int().min(1).max(65_535);

const PortMapping = z.strictObject({
  ContainerPort: Port,
  Protocol: z.enum(['tcp', 'udp', 'sctp']).default('tcp'),
  HostPort: z.number().int().min(0).max(65_535).default(0).describe('0 picks a free one.'),
  HostIP: z.string().default('127.0.0.1').describe('Where it listens; `0.0.0.0` for everybody.'),
});

const Mount = z
  .strictObject({
    Type: z.enum(['bind', 'volume', 'tmpfs']),
    Source: z
      .string()
      .min(1)
      .optional()
      .describe("A folder of the engine's machine, or the name of a volume; nothing for a tmpfs."),
    Target: z.string().startsWith('/').describe('Where it is in the container.'),
    ReadOnly: z.boolean().default(false),
  })
  .refine(({ Type, Source }) => Type !== 'bind' || Source?.startsWith('/'), {
    path: ['Source'],
    error: 'must be an absolute path for a bind mount',
  })
  .refine(({ Type, Source }) => Type !== 'tmpfs' || Source === undefined, {
    path: ['Source'],
    error: 'is nothing that a tmpfs has',
  });

const Ulimit = z.strictObject({
  Name: z.string().min(1).describe('`nofile`, `nproc`, …'),
  Soft: z.number().int(),
  Hard: z.number().int(),
});

const HealthCheck = z.strictObject({
  Test: z.array(z.string()).min(1).describe('`[CMD, program, …]` or `[CMD-SHELL, line]`.'),
  Interval: Duration.default('30s'),
  Timeout: Duration.default('30s'),
  StartPeriod: Duration.default('0s'),
  Retries: z.number().int().min(1).default(3),
});

/** Secrets are references, never words of a spec (DESIGN §5). */
const Reference = z
  .string()
  .regex(/^(file|env):.+/, { error: 'must be file:<path> or env:<name>, not the secret itself' });

const Resources = z.strictObject({
  Memory: Bytes.optional().describe('Bytes, or a size such as `512m`.'),
  CPUs: z.number().positive().optional().describe('How many processors, such as 0.5.'),
  PidsLimit: z.number().int().min(1).optional().describe('How many processes at most.'),
});

const Registry = z.strictObject({
  Username: z.string().min(1),
  Password: Reference.describe('A reference: `file:<path>` or `env:<name>`, read by the plugin when it pulls.'),
  Server: z.string().optional(),
});

const variable = z.string().regex(/^[^=]+$/, { error: 'is no name of a variable' });

/** A container as a member of a group asks for it. */
export const ContainerProperties = z.strictObject({
  Image: z.string().min(1).describe('As `docker run` takes it; `:latest` when it names no tag.'),
  Command: z.array(z.string()).optional().describe("Instead of the image's own."),
  Entrypoint: z.array(z.string()).optional().describe("Instead of the image's own."),
  Env: z
    .record(variable, z.string())
    .default({})
    .describe('`INFRAKIT_INIT` holds the Init of a flavor, if there is one.'),
  Labels: z.record(z.string(), z.string()).default({}).describe('Labels beside those of the plugin.'),
  User: z.string().optional(),
  WorkingDir: z.string().optional(),
  Networks: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'The first is joined at the start and gives the address, the others right behind it. `none` for no network.',
    ),
  Ports: z.array(PortMapping).default([]),
  Mounts: z.array(Mount).default([]),
  Resources: Resources.default({}),
  Ulimits: z.array(Ulimit).default([]).describe("Instead of the engine's own."),
  RestartPolicy: z
    .enum(['no', 'always', 'on-failure', 'unless-stopped'])
    .default('no')
    .describe('`no`: one that ends is removed, and the group makes another.'),
  HealthCheck: HealthCheck.optional(),
  StopTimeout: Duration.default('10s').describe('Between the signal to stop and the end by force.'),
  PullPolicy: z.enum(['missing', 'always', 'never']).default('missing').describe('When the image is pulled.'),
  Registry: Registry.optional().describe('Who asks the registry, when it wants to know.'),
});
export type ContainerProperties = z.infer<typeof ContainerProperties>;

/** The properties of a container; `INSTANCE_INVALID` names every fault at once. */
export const parseContainer = (properties: unknown): ContainerProperties =>
  parseProperties('INSTANCE_INVALID', ContainerProperties, properties);

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** A size in bytes. */
export const bytesOf = (size: z.infer<typeof Bytes>): number => {
  if (typeof size === 'number') return size;
  const found = /^([\d.]+)([kmg]?)b?$/i.exec(size);
  return Math.round(Number(found?.[1]) * (units[found?.[2]?.toLowerCase() ?? ''] ?? 1));
};
