import { connect } from 'node:net';
import { AppError, topicsUnder } from '@infrakit/core';
import type { After } from '@infrakit/spi';
import { generate, type IPublishPacket, type Packet, parser, writeToStream } from 'mqtt-packet';
import { type AdvertisedName, activeOf, advertisedNames, type PluginRecord } from './discovery/plugin-record.ts';
import { decodeFrame } from './rpc/rpc-frame.ts';

/** An object that was found, and the incarnation that answers for it. */
export interface QuickTarget extends AdvertisedName {
  readonly plugin: string;
  readonly object: string;
  readonly incarnation: string;
}

export interface QuickOptions {
  /** The UNIX socket of a broker of ours. */
  readonly socketPath: string;
  readonly prefix: string;
  readonly clientId: string;
  readonly host: string;
  readonly nowMs: () => number;
  readonly after: After;
  /** For everything together; then whatever waits fails. */
  readonly timeoutMs: number;
}

/**
 * One read over the bus for who starts, asks and ends: all that the usual client has for long lives would cost more than the
 * answer. It knows only the good case. Whatever else happens (nothing found in time, a refusal, an answer in pieces) is
 * `BUS_UNAVAILABLE` here, and the usual client, asked anew, finds out what it really is. Answers are not checked.
 */
export interface QuickClient {
  /** Waits until a name is answered to. */
  readonly find: (name: string) => Promise<QuickTarget>;
  readonly read: (
    target: QuickTarget,
    method: { readonly name: string; readonly version: string },
    params: object,
  ) => Promise<unknown>;
  readonly close: () => void;
}

const gaveUp = (why: string): AppError => new AppError('BUS_UNAVAILABLE', `no quick answer: ${why}`);

/** Connects, subscribes and looks at what is on the bus in one go; nothing waits for an acknowledgement. */
export const openQuickClient = (options: QuickOptions): QuickClient => {
  const { socketPath, prefix, clientId, host, nowMs, after, timeoutMs } = options;
  // A table of 65,536 numbers for quicker packets would take longer than all that is said here.
  Reflect.set(writeToStream, 'cacheNumbers', false);
  const topics = topicsUnder(prefix);
  const replyTopic = topics.reply(clientId);
  const processes = new Set<string>();
  const records = new Map<string, Omit<PluginRecord, 'process'>>();
  const waiting = new Set<{ readonly look: () => void; readonly fail: (error: AppError) => void }>();
  let answer: unknown;
  let failure: AppError | undefined;

  const socket = connect({ path: socketPath });
  const fail = (why: string): void => {
    failure ??= gaveUp(why);
    for (const wait of waiting) wait.fail(failure);
    waiting.clear();
    socket.destroy();
  };
  const stopTimer = after(timeoutMs, () => fail('the time is up'));

  /** What `found` gives, once it gives something. */
  const until = <T>(found: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const wait = {
        fail: reject,
        look: () => {
          const value = found();
          if (value === undefined) return;
          waiting.delete(wait);
          resolve(value);
        },
      };
      if (failure !== undefined) return reject(failure);
      waiting.add(wait);
      wait.look();
    });

  const learn = (topic: string, payload: Uint8Array): void => {
    const parsed = topics.parse(topic);
    if (parsed?.kind === 'process' && payload.length > 0) processes.add(parsed.nonce);
    if (parsed?.kind === 'process' && payload.length === 0) processes.delete(parsed.nonce);
    if (parsed?.kind !== 'plugin') return;
    const advertisement = decodeFrame(payload) as PluginRecord['advertisement'] | undefined;
    if (advertisement === undefined) records.delete(topic);
    else records.set(topic, { plugin: parsed.plugin, incarnation: parsed.incarnation, advertisement });
  };

  const receive = ({ topic, payload }: IPublishPacket): void => {
    const bytes = Buffer.from(payload);
    if (topic === replyTopic) answer = decodeFrame(bytes) ?? fail('an answer in pieces');
    else learn(topic, bytes);
  };

  const packets = parser({ protocolVersion: 4 });
  packets.on('packet', (packet: Packet) => {
    if (packet.cmd === 'connack' && packet.returnCode !== 0) fail('the broker refuses');
    if (packet.cmd === 'publish') receive(packet);
  });
  packets.on('error', (error: Error) => fail(error.message));
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the broker hung up'));
  socket.on('data', (bytes) => {
    packets.parse(bytes);
    for (const { look } of [...waiting]) look();
  });

  const filters = [topics.filters.processes, topics.filters.plugins(), replyTopic];
  const hello = [
    generate({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId, keepalive: 60 }),
    // A client need not wait for CONNACK [MQTT-3.1.4-5].
    generate({ cmd: 'subscribe', messageId: 1, subscriptions: filters.map((topic) => ({ topic, qos: 0 })) }),
  ];
  socket.write(Buffer.concat(hello));

  const present = (name: string): QuickTarget | undefined => {
    const slash = name.indexOf('/');
    const plugin = slash < 0 ? name : name.slice(0, slash);
    const object = slash < 0 ? '' : name.slice(slash + 1);
    const living = [...records.values()]
      .filter((record) => record.plugin === plugin && processes.has(record.advertisement.process))
      .map((record) => ({ ...record, process: { pid: 0, host: '', version: '' } }));
    const record = activeOf(living);
    const offered = record && advertisedNames(record.advertisement).get(object);
    return record && offered && { ...offered, plugin, object, incarnation: record.incarnation };
  };

  return {
    find: (name) => until(() => present(name)),
    read: async ({ plugin, object, incarnation }, method, params) => {
      const request = {
        jsonrpc: '2.0',
        id: clientId,
        method: method.name,
        params,
        replyTo: replyTopic,
        to: incarnation,
        host,
        sentAtMs: nowMs(),
        timeoutMs,
        version: method.version,
        context: {},
      };
      const payload = JSON.stringify(request);
      const topic = topics.rpc(plugin, object, method.name);
      socket.write(generate({ cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false }));
      const frame = (await until(() => answer)) as { readonly result?: unknown };
      if (frame.result === undefined) throw gaveUp('no result');
      return frame.result;
    },
    close: () => {
      stopTimer();
      waiting.clear();
      if (!socket.destroyed) socket.end(generate({ cmd: 'disconnect' }));
    },
  };
};
