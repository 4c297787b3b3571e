import { z } from 'zod';
import { PluginName } from '../name/plugin-name.ts';
import { Event } from '../object/event.ts';
import { Member } from '../object/membership.ts';
import type { ParsedTopic } from './topic.ts';

const Count = z.number().int().min(0);
/** The fencing token of whoever leads (DESIGN §3); kinds without leaders have none. */
const Term = Count.optional();
const RpcId = z.union([z.string().min(1), z.number().int()]);
const jsonrpc = z.literal('2.0');

/** A living process; the broker clears it by the process's will. */
export const ProcessPresence = z.strictObject({
  pid: z.number().int().positive(),
  host: z.string().min(1),
  version: z.string().min(1),
  term: Term,
});
export type ProcessPresence = z.infer<typeof ProcessPresence>;

/**
 * An object that a plugin offers: empty name for the plugin itself; `proxyFor` names what it stands for, `changesFor` that whose
 * changes alone go through it (DESIGN §3).
 */
export const AdvertisedObject = z.strictObject({
  name: z.string(),
  proxyFor: PluginName.optional(),
  changesFor: PluginName.optional(),
});
export type AdvertisedObject = z.infer<typeof AdvertisedObject>;

/** One incarnation of a plugin: who runs it, in which role, and which objects answer to which interface. */
export const PluginAdvertisement = z.strictObject({
  process: z.string().min(1),
  role: z.enum(['active', 'standby']),
  interfaces: z.array(
    z.strictObject({ name: z.string().min(1), version: z.string().min(1), objects: z.array(AdvertisedObject) }),
  ),
  term: Term,
});
export type PluginAdvertisement = z.infer<typeof PluginAdvertisement>;

/** A leader's token: `scope` names the election that counts the terms (Law 12). */
const Fencing = z.strictObject({ scope: z.string().min(1).max(500), term: Count });

/** What travels of a call's context; the signal and the deadline stay with each side. */
export const RpcContext = z.strictObject({
  idempotencyKey: z.string().min(1).optional(),
  fencing: Fencing.optional(),
  trace: z.string().min(1).optional(),
});
export type RpcContext = z.infer<typeof RpcContext>;

/**
 * A call: JSON-RPC 2.0, where its answer goes, and how long the caller waits. It is for one incarnation, which need not
 * hear of it in time: `sentAtMs` (milliseconds since 1970, on the clock of `host`) tells how old it is. `version` is that
 * of the interface the caller knows; `via` names the proxy that a mutation of a managed object comes through (DESIGN §3).
 */
export const RpcRequest = z.strictObject({
  jsonrpc,
  id: RpcId,
  method: z.string().min(1),
  params: z.record(z.string(), z.unknown()),
  replyTo: z.string().min(1),
  to: z.string().min(1),
  host: z.string().min(1),
  sentAtMs: z.number(),
  timeoutMs: z.number().positive(),
  version: z.string().min(1),
  via: z.string().min(1).optional(),
  context: RpcContext,
});
export type RpcRequest = z.infer<typeof RpcRequest>;

/** Word on a call's topic that its caller waits no longer. */
export const RpcCancel = z.strictObject({
  jsonrpc,
  method: z.literal('cancel'),
  params: z.strictObject({ id: RpcId, replyTo: z.string().min(1), to: z.string().min(1) }),
});
export type RpcCancel = z.infer<typeof RpcCancel>;

/**
 * The first line of one piece of a message too large for one packet; the bytes after it are the piece. The bytes of all
 * `of` pieces in order are the message. `chunk`, which comes first in the line, is the same in all of them.
 */
export const RpcChunk = z
  .strictObject({ chunk: z.string().min(1), n: Count, of: z.number().int().positive() })
  .refine(({ n, of }) => n < of, { error: 'n must be below of' });
export type RpcChunk = z.infer<typeof RpcChunk>;

/** A sign of life of a long call; it extends the caller's deadline. */
export const RpcProgress = z.strictObject({
  jsonrpc,
  method: z.literal('progress'),
  params: z.strictObject({ id: RpcId, seq: Count, message: z.string(), fraction: z.number().min(0).max(1).optional() }),
});
export type RpcProgress = z.infer<typeof RpcProgress>;

/** A good answer. */
export const RpcResult = z.strictObject({ jsonrpc, id: RpcId, result: z.unknown() });
export type RpcResult = z.infer<typeof RpcResult>;

/**
 * A refusal or failure; `data.code` is a code of the error table, perhaps of a newer version than ours. `data.cause` is
 * `{message, code?, facts?, cause?}`, read by hand to a limited depth.
 */
export const RpcFailure = z.strictObject({
  jsonrpc,
  id: RpcId.nullable(),
  error: z.strictObject({
    code: z.number().int(),
    message: z.string(),
    data: z.strictObject({
      code: z.string().min(1),
      facts: z.record(z.string(), z.unknown()),
      cause: z.unknown().optional(),
    }),
  }),
});
export type RpcFailure = z.infer<typeof RpcFailure>;

/** Where an event stands among those of its topic: the numbers of one nonce rise by one from 1, so that a lost one shows. */
export const EventSequence = z.strictObject({ Nonce: z.string().min(1), Seq: z.number().int().min(1) });
export type EventSequence = z.infer<typeof EventSequence>;

/** An event as it is published; one that somebody else publishes may have no number. */
export const PublishedEvent = z.strictObject({ ...Event.shape, ...EventSequence.partial().shape });
export type PublishedEvent = z.infer<typeof PublishedEvent>;

/** Something that holds of an object or does not, since when (milliseconds since 1970), and why. */
export const StateCondition = z.strictObject({
  type: z.string().min(1),
  isTrue: z.boolean(),
  reason: z.string(),
  sinceMs: z.number(),
});
export type StateCondition = z.infer<typeof StateCondition>;

/** The retained state of an object: facts to look at, never the spec or rows (DESIGN §3). */
export const StatePayload = z.strictObject({
  kind: z.string().min(1),
  revision: Count,
  specHash: z.string(),
  conditions: z.array(StateCondition),
  counts: z.record(z.string(), Count),
  digest: z.string(),
  incarnation: z.string().min(1),
  seq: Count,
  term: Term,
});
export type StatePayload = z.infer<typeof StatePayload>;

/**
 * What may be published on each family of topics; types and checks every publish and every message received (DESIGN §3).
 * What is too large for one packet travels on `rpc` and `reply` in pieces ({@link RpcChunk}).
 */
export const topicSchemas = {
  process: ProcessPresence,
  plugin: PluginAdvertisement,
  rpc: z.union([RpcRequest, RpcCancel]),
  reply: z.union([RpcResult, RpcFailure, RpcProgress]),
  event: PublishedEvent,
  state: StatePayload,
  member: Member,
} as const satisfies Record<ParsedTopic['kind'], z.ZodType>;

/** The payload of a family of topics. */
export type TopicPayload<K extends ParsedTopic['kind']> = z.infer<(typeof topicSchemas)[K]>;

/** Which families are retained, and the least quality of service they are sent with (DESIGN §3); timers may use 0. */
export const topicDelivery = {
  process: { retain: true, qos: 1 },
  plugin: { retain: true, qos: 1 },
  rpc: { retain: false, qos: 1 },
  reply: { retain: false, qos: 1 },
  event: { retain: false, qos: 1 },
  state: { retain: true, qos: 1 },
  member: { retain: true, qos: 1 },
} as const satisfies Record<ParsedTopic['kind'], { retain: boolean; qos: 0 | 1 }>;
