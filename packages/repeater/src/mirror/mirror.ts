import { Duration, formatDuration } from '@infrakit/core';
import { z } from 'zod';

/** A secret is told where it is, never itself (DESIGN §5). */
const SecretReference = z
  .string()
  .regex(/^(file|env):./, 'write file:PATH or env:NAME: a secret itself does not belong here');

const Tls = z.strictObject({
  ca: z.string().min(1).optional(),
  cert: z.string().min(1).optional(),
  key: z.string().min(1).optional(),
  /** Takes any certificate of the broker. */
  insecure: z.boolean().default(false),
});

const login = {
  Username: z.string().min(1).optional(),
  Password: SecretReference.optional(),
  TLS: Tls.optional(),
  /** Each connection gets one of its own made of it. */
  ClientID: z.string().min(1).max(100).optional(),
};

/** A broker and who we are to it. */
export const BrokerLogin = z.strictObject({ URL: z.string().min(1), ...login });
export type BrokerLogin = z.infer<typeof BrokerLogin>;

/** Where messages come from: the name of a plugin, whose events they are, or a broker. */
export const MirrorSource = z.union([z.string().min(1), BrokerLogin]);
export type MirrorSource = z.infer<typeof MirrorSource>;

/** Where messages go: a broker, or the log. */
export const MirrorSink = z.strictObject({
  Protocol: z.enum(['mqtt', 'stderr']).default('mqtt'),
  URL: z.string().min(1).default('tcp://localhost:1883'),
  ...login,
});
export type MirrorSink = z.infer<typeof MirrorSink>;

/** What is mirrored, and how (GP §6, mosquitto's vocabulary): the words of one rule. */
export const mirrorWords = {
  /** A filter. Of a plugin also the old forms: `.` everything, a trailing slash the subtree (GP §3.2). */
  sourcetopic: z.string().min(1),
  /** Empty or `.`: the same. Ending in `/`: put in front. With wildcards: captures of the filter's. Else the one topic. */
  sinktopic: z.string().default(''),
  /** Taken off the source topic, and put on the sink topic. */
  LocalPrefix: z.string().default(''),
  RemotePrefix: z.string().default(''),
  QoS: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  Retain: z.enum(['never', 'always', 'as-published']).default('never'),
  /**
   * Between two looks at what a source that speaks only 3.1.1 has retained, for `as-published`: it does not say with a message whether
   * it was retained.
   */
  RetainScan: Duration.refine((ms) => ms >= 1_000, 'RetainScan must be 1s at least')
    // As text again: what was read once is read again by who runs the mirror, and from the disk.
    .transform(formatDuration)
    .optional(),
  /** `auto`: MQTT 5 where both brokers speak it, so that properties and the number of hops go along. */
  MQTT: z.enum(['auto', '3.1.1']).default('auto'),
  /** Filters of what is left out, as they match at the source. */
  Exclude: z.array(z.string().min(1)).default([]),
  /** The largest payload, in bytes; larger messages are dropped and counted. */
  MaxSize: z.number().int().min(1).optional(),
  /** `in`: from the sink to the source; `both`: each way. */
  Direction: z.enum(['out', 'in', 'both']).default('out'),
  /** `cloudevents`: events in structured mode. */
  Format: z.enum(['event', 'cloudevents']).default('event'),
};

/** What is kept on the disk while the sink is away; without one the source's session keeps it. */
export const MirrorBuffer = z.strictObject({
  /** How many bytes of messages wait at most, over all rules of a spec together. */
  MaxBytes: z
    .number()
    .int()
    .min(64 * 1024)
    .max(2 ** 40),
  /** When it is full: the oldest or the newest is given up, or the source is no longer read. */
  Policy: z.enum(['drop-oldest', 'drop-newest', 'block']).default('block'),
});
export type MirrorBuffer = z.infer<typeof MirrorBuffer>;

/** The properties of one mirrored topic: what Provision of `<repeater>/topic` takes. */
export const Mirror = z.strictObject({
  Source: MirrorSource,
  Sink: MirrorSink,
  ...mirrorWords,
  QoS: mirrorWords.QoS.default(1),
  Buffer: MirrorBuffer.optional(),
});
export type Mirror = z.infer<typeof Mirror>;
