import { AppError, parseDuration } from '@infrakit/core';
import { z } from 'zod';

const Bytes = z.union([
  z.number().int().min(1),
  z.string().regex(/^\d+(\.\d+)?[kmg]?b?$/i, { error: 'is a size such as 512m or 2g' }),
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
  { error: 'is a duration such as 10s' },
);

const Port = z.number().int().min(1).max(65_535);

const PortMapping = z.strictObject({
  ContainerPort: Port,
  Protocol: z.enum(['tcp', 'udp', 'sctp']).default('tcp'),
  /** 0, or left out, picks a free one. */
  HostPort: z.number().int().min(0).max(65_535).default(0),
  HostIP: z.string().default('127.0.0.1'),
});

const Mount = z
  .strictObject({
    Type: z.enum(['bind', 'volume', 'tmpfs']),
    /** A folder of the engine's machine, or the name of a volume; nothing for a tmpfs. */
    Source: z.string().min(1).optional(),
    Target: z.string().startsWith('/'),
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

const Ulimit = z.strictObject({ Name: z.string().min(1), Soft: z.number().int(), Hard: z.number().int() });

const HealthCheck = z.strictObject({
  Test: z.array(z.string()).min(1),
  Interval: Duration.default('30s'),
  Timeout: Duration.default('30s'),
  StartPeriod: Duration.default('0s'),
  Retries: z.number().int().min(1).default(3),
});

/** Secrets are references, never words of a spec (DESIGN §5). */
const Reference = z
  .string()
  .regex(/^(file|env):.+/, { error: 'must be file:<path> or env:<name>, not the secret itself' });

/** A container as a member of a group asks for it. */
export const ContainerProperties = z.strictObject({
  Image: z.string().min(1),
  Command: z.array(z.string()).optional(),
  Entrypoint: z.array(z.string()).optional(),
  Env: z.record(z.string().regex(/^[^=]+$/, { error: 'is no name of a variable' }), z.string()).default({}),
  Labels: z.record(z.string(), z.string()).default({}),
  User: z.string().optional(),
  WorkingDir: z.string().optional(),
  /** The first is joined at the start, the others right behind it. `none` for no network. */
  Networks: z.array(z.string().min(1)).default([]),
  Ports: z.array(PortMapping).default([]),
  Mounts: z.array(Mount).default([]),
  Resources: z
    .strictObject({
      Memory: Bytes.optional(),
      CPUs: z.number().positive().optional(),
      PidsLimit: z.number().int().min(1).optional(),
    })
    .default({}),
  Ulimits: z.array(Ulimit).default([]),
  RestartPolicy: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).default('no'),
  HealthCheck: HealthCheck.optional(),
  StopTimeout: Duration.default('10s'),
  PullPolicy: z.enum(['missing', 'always', 'never']).default('missing'),
  Registry: z
    .strictObject({ Username: z.string().min(1), Password: Reference, Server: z.string().optional() })
    .optional(),
});
export type ContainerProperties = z.infer<typeof ContainerProperties>;

/** The properties of a container; `INSTANCE_INVALID` names every fault at once. */
export const parseContainer = (properties: unknown): ContainerProperties => {
  const parsed = ContainerProperties.safeParse(properties);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  );
  throw new AppError('INSTANCE_INVALID', faults.join('; '), { facts: { faults } });
};

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** A size in bytes. */
export const bytesOf = (size: z.infer<typeof Bytes>): number => {
  if (typeof size === 'number') return size;
  const found = /^([\d.]+)([kmg]?)b?$/i.exec(size);
  return Math.round(Number(found?.[1]) * (units[found?.[2]?.toLowerCase() ?? ''] ?? 1));
};
