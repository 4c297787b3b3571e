import { AppError, RpcFailure, RpcProgress, type RpcRequest, type Topics, toAppError } from '@infrakit/core';
import { type CallContext, type InterfaceDescription, type Log, wireName } from '@infrakit/spi';
import type { Connection, Message } from '../connection/connection.ts';
import { fullName } from '../discovery/plugin-record.ts';
import { badMessages } from '../events/bad-messages.ts';
import { chunkAssembler } from './chunks.ts';
import { directCall } from './direct-call.ts';
import { decodeError } from './rpc-error.ts';
import { type Exchange, exchange } from './rpc-exchange.ts';
import { decodeFrame, defaultRpcLimits, freezeParsed, type RpcClock, type RpcLimits } from './rpc-frame.ts';

/** Who is called: one object of one incarnation of a plugin. */
export interface RpcTarget {
  readonly plugin: string;
  readonly object: string;
  readonly incarnation: string;
}

export interface RpcClientOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  /** The name of this machine. */
  readonly host: string;
  readonly newId: () => string;
  readonly clock: RpcClock;
  readonly log: Log;
  readonly limits?: RpcLimits;
}

/** The calls of one connection. */
export interface RpcClient {
  /**
   * Calls a method of a target, named as in its description. Ends at the latest with the deadline: `RPC_TIMEOUT`, or
   * `BUS_UNAVAILABLE` where nothing was sent, so that nothing can have been done. After a reconnect the request is sent
   * again under its id, which acts once. `via` names the proxy that a mutation comes through.
   */
  readonly call: (
    target: RpcTarget,
    description: InterfaceDescription,
    method: string,
    params: unknown,
    ctx: CallContext,
    via?: string,
  ) => Promise<unknown>;
  readonly clock: RpcClock;
  /** Incarnations whose answers are waited for, one for each call. */
  readonly called: () => Iterable<string>;
  /** Ends the calls of incarnations that will not answer any more, with `PLUGIN_UNAVAILABLE`: what they have done is not known. */
  readonly lose: (isGone: (incarnation: string) => boolean) => void;
  /** Messages that made no sense. */
  readonly badCount: () => number;
  /** Calls that wait for their answers end with `BUS_UNAVAILABLE`. */
  readonly close: () => void;
}

/** An answer with a result, checked by hand: it may be large, and what is in it is checked by the method's own rule. */
const isResult = (frame: unknown): frame is { readonly id: RpcRequest['id']; readonly result: unknown } =>
  typeof frame === 'object' &&
  frame !== null &&
  'jsonrpc' in frame &&
  frame.jsonrpc === '2.0' &&
  'id' in frame &&
  'result' in frame &&
  !('error' in frame);

const unanswered = (name: string, method: string): AppError =>
  new AppError(
    'PLUGIN_UNAVAILABLE',
    `the process of ${name} ended before it answered ${method}; whether it was done is not known`,
    { facts: { name, method } },
  );

/** A client whose answers come to the topic of its connection; nobody else may have its client id. */
export const rpcClient = (options: RpcClientOptions): RpcClient => {
  const { connection, topics, host, newId, clock, log } = options;
  const limits = options.limits ?? defaultRpcLimits;
  const replyTo = topics.reply(connection.clientId);
  const bad = badMessages({ log, nowMs: clock.nowMs });
  const assembler = chunkAssembler(limits, clock);
  const waiting = new Map<RpcRequest['id'], Exchange>();
  const targets = new Map<RpcRequest['id'], RpcTarget & { readonly method: string }>();
  let session: number | undefined;
  let isClosed = false;

  /** Takes a message; gives the reason when it makes no sense. An answer that nobody waits for is late, or came twice. */
  const accept = ({ topic, payload }: Message): string | undefined => {
    const assembled = assembler.add(topic, payload);
    if (assembled.kind === 'partial') return undefined;
    if (assembled.kind === 'bad') return assembled.reason;
    const frame = decodeFrame(assembled.bytes);
    if (isResult(frame)) {
      waiting.get(frame.id)?.succeed(freezeParsed(frame.result));
      return undefined;
    }
    const progress = RpcProgress.safeParse(frame);
    if (progress.success) {
      waiting.get(progress.data.params.id)?.progress(progress.data.params);
      return undefined;
    }
    const failure = RpcFailure.safeParse(frame);
    if (!failure.success) return 'no answer to a call';
    if (failure.data.id !== null) waiting.get(failure.data.id)?.fail(decodeError(failure.data));
    return undefined;
  };

  const receive = (message: Message): void => {
    const fault = accept(message);
    if (fault !== undefined) bad.note(message.topic, fault);
  };

  const subscription = connection.subscribe(replyTo, 1, receive);
  const statusSubscription = connection.status.subscribe((status) => {
    session = status.kind === 'connected' ? status.session : undefined;
    if (session !== undefined) for (const call of waiting.values()) call.send();
  });

  const call: RpcClient['call'] = async (target, description, methodName, params, ctx, via) => {
    if (isClosed) throw new AppError('BUS_UNAVAILABLE', 'the client of the bus is closed');
    const method = wireName(description, methodName);
    let mayHaveArrived = false;
    const remote = (parsed: unknown, inner: CallContext): Promise<unknown> => {
      const id = newId();
      const own = exchange({
        connection,
        topic: topics.rpc(target.plugin, target.object, method),
        ready: subscription.ready,
        isConnected: () => session !== undefined,
        request: {
          id,
          method,
          params: parsed as Record<string, unknown>,
          replyTo,
          to: target.incarnation,
          host,
          version: description.version,
          ...(via === undefined ? {} : { via }),
        },
        ctx: inner,
        clock,
        log,
        limits,
        onSend: () => {
          mayHaveArrived = true;
        },
      });
      waiting.set(id, own);
      targets.set(id, { ...target, method });
      own.send();
      return own.answer.finally(() => {
        waiting.delete(id);
        targets.delete(id);
      });
    };
    // A direct call has the deadline, what extends it, checked parameters and results: the same as for a call in one process.
    const run = directCall(description, methodName, { [methodName]: remote }, clock);
    return run(params, ctx).catch((thrown: unknown) => {
      const error = toAppError(thrown);
      if (error.code !== 'RPC_TIMEOUT' || mayHaveArrived) throw error;
      throw new AppError('BUS_UNAVAILABLE', `${method} was not sent: there was no connection`, { cause: error });
    });
  };

  return {
    call,
    clock,
    called: () => [...targets.values()].map(({ incarnation }) => incarnation),
    lose: (isGone) => {
      for (const [id, { plugin, object, incarnation, method }] of targets) {
        if (isGone(incarnation)) waiting.get(id)?.fail(unanswered(fullName(plugin, object), method));
      }
    },
    badCount: bad.count,
    close: () => {
      isClosed = true;
      statusSubscription.unsubscribe();
      subscription.close();
      assembler.close();
      for (const open of waiting.values())
        open.fail(new AppError('BUS_UNAVAILABLE', 'the client of the bus was closed'));
    },
  };
};
