import { AppError, RpcCancel, RpcRequest, type RpcResult, type Topics, toAppError } from '@infrakit/core';
import {
  type Fencing,
  type FencingTerms,
  fencingTerms,
  type Log,
  type PluginObject,
  type Progress,
} from '@infrakit/spi';
import type { Connection, Message } from '../connection/connection.ts';
import { badMessages } from '../events/bad-messages.ts';
import { chunkAssembler } from './chunks.ts';
import { directCall } from './direct-call.ts';
import { rpcAnswers } from './rpc-answers.ts';
import { encodeError } from './rpc-error.ts';
import { decodeFrame, defaultRpcLimits, encodeFrame, type RpcClock, type RpcLimits } from './rpc-frame.ts';
import { type FoundMethod, methodFinder } from './rpc-objects.ts';
import { answerSender } from './rpc-reply.ts';

export interface RpcServerOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly plugin: string;
  /** Requests for another one are not for us. */
  readonly incarnation: string;
  /** The name of this machine: clocks of one machine need no allowance. */
  readonly host: string;
  readonly objects: () => readonly PluginObject[];
  /** Whether this incarnation leads; else every call is answered with `LEADER_NOT`. */
  readonly isAnswering: () => boolean;
  /** The proxy through which alone an object may be changed (DESIGN §3), if it has one. */
  readonly managedBy?: (object: string) => string | undefined;
  readonly clock: RpcClock;
  readonly log: Log;
  readonly limits?: RpcLimits;
  /** Calls under way at once; more are refused, so that memory stays bounded. 10,000 when left out. */
  readonly maxRunning?: number;
}

export interface RpcServer {
  /** Resolves when the broker lets requests through in the present session. */
  readonly ready: (options?: { readonly timeoutMs?: number }) => Promise<void>;
  /** Messages that made no sense. */
  readonly badCount: () => number;
  /** Takes no more calls and aborts those under way. */
  readonly close: () => void;
}

/** How far clocks of two machines may be apart before a living request counts as late. */
const skewAllowanceMs = 5_000;
/** As long as any caller may wait, and then some. */
const answerLimits = { maxCount: 10_000, maxBytes: 32 * 2 ** 20, keepMs: 15 * 60_000 };
/** Signs of life are sent no more often than this. */
const progressMs = 100;

/** What names a call: the id is its client's, the answer topic the client itself. */
const keyOf = ({ replyTo, id }: { readonly replyTo: string; readonly id: string | number }): string =>
  JSON.stringify([replyTo, id]);

/**
 * Answers the calls to one incarnation of a plugin (DESIGN §3). A request that comes again joins the one under way or
 * gets the answer that was given; answers of methods that only read are not kept, since reading again changes nothing.
 */
export const serveRpc = (options: RpcServerOptions): RpcServer => {
  const { connection, topics, plugin, incarnation, host, isAnswering, managedBy, clock, log } = options;
  const { limits = defaultRpcLimits, maxRunning = 10_000 } = options;
  const find = methodFinder(plugin, options.objects);
  const bad = badMessages({ log, nowMs: clock.nowMs });
  const assembler = chunkAssembler(limits, clock);
  const answers = rpcAnswers(answerLimits, clock.nowMs);
  const running = new Map<string, AbortController>();
  /** The highest terms that callers of an object came with (Law 12). */
  const terms = new Map<string, FencingTerms>();
  const sender = answerSender({ connection, clock, log, limits });

  const checkTerm = (object: string, fencing: Fencing | undefined): void => {
    if (fencing === undefined) return;
    const seen = terms.get(object) ?? fencingTerms();
    terms.set(object, seen);
    seen.admit(fencing);
  };

  /** Milliseconds since it was sent, as far as clocks can tell. */
  const ageOf = (request: RpcRequest): number => {
    const allowanceMs = request.host === host ? 0 : skewAllowanceMs;
    return Math.max(0, clock.nowMs() - request.sentAtMs - allowanceMs);
  };

  /** The method that a request may call. Errors say why it may not. */
  const admit = (request: RpcRequest, object: string): FoundMethod => {
    const ageMs = ageOf(request);
    if (ageMs >= request.timeoutMs) {
      throw new AppError(
        'RPC_EXPIRED',
        `${request.method} arrived ${ageMs} ms old, after its deadline; nothing was done`,
        {
          facts: { ageMs, timeoutMs: request.timeoutMs, sentAtMs: request.sentAtMs, host },
        },
      );
    }
    if (!isAnswering()) throw new AppError('LEADER_NOT', `this ${plugin} is a standby`, { facts: { incarnation } });
    const found = find(object, request.method, request.version);
    const proxy = found.method.mutates ? managedBy?.(object) : undefined;
    if (proxy !== undefined && request.via !== proxy) {
      throw new AppError('OBJECT_MANAGED', `${plugin}/${object} is managed: change it through ${proxy}`, {
        facts: { object, proxy },
      });
    }
    if (running.size >= maxRunning) {
      throw new AppError('PLUGIN_UNAVAILABLE', `${plugin} has ${maxRunning} calls under way`, { facts: { plugin } });
    }
    checkTerm(object, request.context.fencing);
    return found;
  };

  const progressOf = ({ id, replyTo }: RpcRequest) => {
    let seq = 0;
    let lastMs = Number.NEGATIVE_INFINITY;
    return ({ message, fraction }: Progress): void => {
      const now = clock.nowMs();
      if (Math.abs(now - lastMs) < progressMs) return;
      lastMs = now;
      const params = { id, seq, message, ...(fraction === undefined ? {} : { fraction }) };
      seq += 1;
      sender.hint(replyTo, { jsonrpc: '2.0', method: 'progress', params });
    };
  };

  const run = (request: RpcRequest, { object, methodName }: FoundMethod, signal: AbortSignal): Promise<unknown> => {
    const { context, timeoutMs } = request;
    return directCall(
      object.description,
      methodName,
      object.implementation,
      clock,
    )(request.params, {
      signal,
      timeoutMs: timeoutMs - ageOf(request),
      ...(context.idempotencyKey === undefined ? {} : { idempotencyKey: context.idempotencyKey }),
      ...(context.fencing === undefined ? {} : { fencing: context.fencing }),
      ...(context.trace === undefined ? {} : { trace: context.trace }),
      progress: progressOf(request),
    });
  };

  const failure = ({ id }: RpcRequest, thrown: unknown): string =>
    encodeFrame(encodeError(id, toAppError(thrown)), limits.maxMessageBytes);

  const success = (request: RpcRequest, result: unknown = null): string => {
    try {
      return encodeFrame({ jsonrpc: '2.0', id: request.id, result } satisfies RpcResult, limits.maxMessageBytes);
    } catch (error) {
      return failure(request, error);
    }
  };

  const answer = async (request: RpcRequest, object: string): Promise<void> => {
    const key = keyOf(request);
    const given = answers.get(key);
    if (running.has(key)) return;
    if (given !== undefined) {
      if (ageOf(request) < request.timeoutMs) sender.send(request, given);
      return;
    }
    let frame: string;
    try {
      const found = admit(request, object);
      const caller = new AbortController();
      running.set(key, caller);
      try {
        frame = await run(request, found, caller.signal).then(
          (result) => success(request, result),
          (thrown: unknown) => failure(request, thrown),
        );
        if (found.method.mutates) answers.put(key, frame);
      } finally {
        running.delete(key);
      }
    } catch (thrown) {
      frame = failure(request, thrown);
    }
    sender.send(request, frame);
  };

  /** Takes a message; gives the reason when it makes no sense. */
  const accept = ({ topic, payload }: Message): string | undefined => {
    const to = topics.parse(topic);
    const assembled = assembler.add(topic, payload);
    if (assembled.kind === 'partial') return undefined;
    if (assembled.kind === 'bad') return assembled.reason;
    const frame = decodeFrame(assembled.bytes);
    const request = RpcRequest.safeParse(frame);
    if (!request.success) {
      const cancel = RpcCancel.safeParse(frame);
      if (!cancel.success) return 'neither a call nor a cancellation';
      if (cancel.data.params.to === incarnation) {
        running.get(keyOf(cancel.data.params))?.abort(new AppError('RPC_CANCELLED', 'the caller gave up'));
      }
      return undefined;
    }
    if (to?.kind !== 'rpc' || to.method !== request.data.method) return 'a call of another topic';
    if (topics.parse(request.data.replyTo)?.kind !== 'reply') return 'a reply topic of no client';
    if (request.data.to === incarnation) {
      answer(request.data, to.object).catch((error: unknown) => log.error({ err: error }, 'call not answered'));
    }
    return undefined;
  };

  const receive = (message: Message): void => {
    const fault = accept(message);
    if (fault !== undefined) bad.note(message.topic, fault);
  };

  const subscription = connection.subscribe(topics.filters.rpc(plugin), 1, receive);
  return {
    ready: subscription.ready,
    badCount: bad.count,
    close: () => {
      subscription.close();
      assembler.close();
      sender.close();
      for (const caller of running.values()) caller.abort(new AppError('RPC_CANCELLED', `${plugin} stops`));
    },
  };
};
