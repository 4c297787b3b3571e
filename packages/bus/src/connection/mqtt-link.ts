import type { AppError } from '@infrakit/core';
import { type BrokerAddress, describeBroker } from '@infrakit/core';
import type { IClientOptions } from 'mqtt';
import type { Will } from './connection.ts';
import type { Link, LinkListener } from './link.ts';
import { mqttError } from './mqtt-errors.ts';
import { mqttClient, type TlsMaterial } from './mqtt-stream.ts';
import type { Qos } from './qos.ts';

/** The versions of MQTT that we speak. */
export type MqttVersion = '3.1.1' | '5';

/** Who connects, where and how. */
export interface MqttLinkOptions {
  readonly address: BrokerAddress;
  readonly tls: TlsMaterial;
  readonly clientId: string;
  readonly will?: Will;
  readonly keepaliveMs: number;
  /** For the client's own clean-up; the caller has a deadline of its own. */
  readonly connectTimeoutMs: number;
}

/** As a {@link LinkListener}, and told whether the broker had said anything when it went down. */
export interface MqttLinkListener extends Omit<LinkListener, 'down'> {
  /** `cause`: what client or socket said; undefined when the broker just hung up. `wasUp`: after `up`. */
  readonly down: (cause: unknown, wasUp: boolean) => void;
}

const clientOptions = (options: MqttLinkOptions, version: MqttVersion): IClientOptions => {
  const { address, clientId, will, keepaliveMs, connectTimeoutMs } = options;
  return {
    clientId,
    protocolVersion: version === '5' ? 5 : 4,
    clean: true,
    keepalive: Math.ceil(keepaliveMs / 1_000),
    connectTimeout: connectTimeoutMs,
    // One client lives as long as one session: whatever it would queue or repeat is decided above it.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // Its own log is made up for each packet even when nobody reads it.
    log: () => undefined,
    ...(address.username === undefined ? {} : { username: address.username }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(will === undefined ? {} : { will: { ...will, payload: Buffer.from(will.payload) } }),
  };
};

const qualities: readonly Qos[] = [0, 1, 2];

const qosOf = (qos: number): Qos => (qos === 1 || qos === 2 ? qos : 0);

/** One attempt to connect with one version, and the session if it succeeds. The result drops it without goodbye. */
export const openMqttLink = (
  options: MqttLinkOptions,
  version: MqttVersion,
  listener: MqttLinkListener,
): (() => void) => {
  const broker = describeBroker(options.address);
  /** Ends each wait that the session has not ended yet: the client forgets some of them when the connection closes. */
  const pending = new Set<(cause: unknown) => void>();
  let cause: unknown;
  let isUp = false;
  let isOver = false;

  const note = (error: unknown): void => {
    cause ??= error;
  };
  const client = mqttClient(options.address, clientOptions(options, version), {
    tls: options.tls,
    onStreamError: note,
  });

  const endWaits = (): void => {
    for (const end of pending) end(cause ?? 'the connection was closed');
    pending.clear();
  };
  const drop = (): void => {
    if (isOver) return;
    isOver = true;
    client.end(true);
    // A client that waits for its last acknowledgements does not hear a second `end`.
    client.stream.destroy();
    endWaits();
  };
  const fail = (): void => {
    if (isOver) return;
    drop();
    listener.down(cause, isUp);
  };

  /** A wait that the session's end ends too. */
  const within = <T>(start: (done: (error: unknown, value: T) => void) => void): Promise<T> =>
    new Promise((resolve, reject) => {
      const end = (error: unknown): void => reject(mqttError(broker, error));
      if (isOver) return end(cause ?? 'the connection was closed');
      pending.add(end);
      start((error, value) => {
        if (!pending.delete(end)) return;
        if (error === undefined || error === null) resolve(value);
        else end(error);
      });
    });

  /** The broker's code for each filter, in order. A refused filter is an answer, not an error. */
  const granted = (filters: string[], qos: Qos): Promise<readonly number[]> =>
    within((done) =>
      client.subscribe(filters, { qos }, (error, _granted, packet) =>
        packet === undefined ? done(error ?? 'no answer', []) : done(undefined, packet.granted.map(Number)),
      ),
    );

  const link = (): Link => ({
    protocol: version,
    maxInFlight: client.serverProperties?.receiveMaximum ?? 65_535,
    maxPacketBytes: client.serverProperties?.maximumPacketSize ?? 268_435_455,
    publish: (topic, payload, { qos, retain }) =>
      within((done) =>
        client.publish(
          topic,
          Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
          { qos, retain },
          (error) => done(error, undefined),
        ),
      ),
    subscribe: async (requests) => {
      const answers = new Map<string, AppError | undefined>();
      await Promise.all(
        qualities.map(async (qos) => {
          const filters = requests.filter((request) => request.qos === qos).map(({ filter }) => filter);
          if (filters.length === 0) return;
          for (const [n, code] of (await granted(filters, qos)).entries()) {
            const filter = filters[n];
            if (filter !== undefined && code >= 0x80) answers.set(filter, mqttError(broker, { code }));
          }
        }),
      );
      return requests.map(({ filter }) => answers.get(filter));
    },
    unsubscribe: (filter) => within((done) => client.unsubscribe(filter, (error) => done(error, undefined))),
    end: () => new Promise((resolve) => client.end(false, {}, () => resolve())),
  });

  client.on('connect', () => {
    if (isOver) return;
    isUp = true;
    listener.up(link());
  });
  client.on('message', (topic, payload, { retain, qos }) => {
    if (!isOver) listener.message({ topic, payload, retain, qos: qosOf(qos) });
  });
  client.on('disconnect', ({ reasonCode }) => note({ code: reasonCode }));
  client.on('error', (error) => {
    note(error);
    fail();
  });
  client.on('close', fail);
  return drop;
};
