import type { Duplex } from 'node:stream';
import { AppError } from '@infrakit/core';
import { generate, type IConnackPacket, type IConnectPacket, parser } from 'mqtt-packet';
import { type BrokerLimits, noLimits } from './broker-limits.ts';
import { malformed } from './frame-cutter.ts';
import { readLength } from './mqtt-frame.ts';

/** Who a connection is to the broker. */
export interface Login {
  readonly clientId: string;
  readonly clean: boolean;
  /** Between two signs of life, in s. */
  readonly keepaliveS: number;
  readonly username?: string;
  readonly password?: string;
  /** 3.1.1 or 5. */
  readonly version: 4 | 5;
  /** How many messages of QoS 1 and 2 the broker may send us at once, where we speak MQTT 5; all there are packet ids for if left out. */
  readonly receiveMaximum?: number;
}

/** What a broker said to our CONNECT. */
export interface Greeting {
  /** Whether it still had the session. */
  readonly hadSession: boolean;
  /** What we spoke. */
  readonly version: 4 | 5;
  /** After so long without a word from us it hangs up, half as much more included, in s; 0 for never. */
  readonly keepaliveS: number;
  readonly limits: BrokerLimits;
}

/** Reason codes of both versions: those of 3.1.1 are below 6 [MQTT-3.2.2-6]. */
const reasons: Readonly<Record<number, string>> = {
  1: 'it does not speak this version of MQTT',
  2: 'the client id is not allowed',
  3: 'it is not available',
  4: 'the user name or password is wrong',
  5: 'it does not let us in',
  132: 'it does not speak this version of MQTT',
  133: 'the client id is not allowed',
  134: 'the user name or password is wrong',
  135: 'it does not let us in',
  136: 'it is not available',
  137: 'it is busy',
  138: 'we are banned',
  159: 'we connect too often',
};

const maxConnackBytes = 64 * 1024;

/** Whether a refusal says that the broker speaks another version. */
export const isOtherVersion = (error: AppError): boolean => error.facts.code === 1 || error.facts.code === 0x84;

/** Whether a broker ended the connection instead of an answer. */
export const hungUp = (error: AppError): boolean => error.facts.isHungUp === true;

const connectFrame = (login: Login): Buffer => {
  const packet: IConnectPacket = {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: login.version,
    clean: login.clean,
    clientId: login.clientId,
    keepalive: login.keepaliveS,
    ...(login.username !== undefined && { username: login.username }),
    ...(login.password !== undefined && { password: Buffer.from(login.password) }),
    ...(login.version === 5 && {
      properties: {
        // A session of MQTT 5 ends with its connection unless it is told otherwise; all ones: never [MQTT5-3.1.2.11.2].
        ...(!login.clean && { sessionExpiryInterval: 0xffffffff }),
        ...(login.receiveMaximum !== undefined && { receiveMaximum: login.receiveMaximum }),
      },
    }),
  };
  return generate(packet);
};

/** The length of a CONNACK that is there as a whole; null while more is to come. */
const connackLength = (got: Buffer): number | null => {
  if (got.length < 2) return null;
  if (got[0] !== 0x20) throw new AppError('BUS_REFUSED', 'what answers there is no MQTT broker');
  const isPending = got.length < 5 && (got.at(-1) ?? 0) > 127;
  if (isPending) return null;
  const { length, behind } = readLength(got, 1, got.length);
  if (behind + length > maxConnackBytes) throw malformed('a CONNACK that is far too long');
  return got.length < behind + length ? null : behind + length;
};

/** The length of a CONNACK of 3.1.1: code and flags, no properties. */
const plainConnack = 4;

const greetingOf = (frame: Buffer, { version, keepaliveS }: Login): Greeting => {
  // It answers in 3.1.1 what was asked in MQTT 5: it did not look at the version, or it refuses it.
  if (version === 5 && frame.length === plainConnack && (frame[3] ?? 0) <= 1) {
    throw new AppError('BUS_REFUSED', `the broker refuses us: ${reasons[1]}`, { facts: { code: 1 } });
  }
  let packet: IConnackPacket | undefined;
  const reader = parser({ protocolVersion: version });
  reader.on('packet', (read) => {
    if (read.cmd === 'connack') packet = read;
  });
  reader.on('error', () => undefined);
  reader.parse(frame);
  if (packet === undefined) throw malformed('a CONNACK that cannot be read');
  const code = packet.reasonCode ?? packet.returnCode ?? 0;
  if (code !== 0) {
    const why = reasons[code] ?? `code ${code}`;
    throw new AppError('BUS_REFUSED', `the broker refuses us: ${why}`, { facts: { code } });
  }
  const { properties } = packet;
  const limits: BrokerLimits = {
    receiveMaximum: properties?.receiveMaximum ?? noLimits.receiveMaximum,
    maxPacketBytes: properties?.maximumPacketSize ?? noLimits.maxPacketBytes,
    maxQos: properties?.maximumQoS === 0 || properties?.maximumQoS === 1 ? properties.maximumQoS : noLimits.maxQos,
    isRetainAvailable: properties?.retainAvailable ?? noLimits.isRetainAvailable,
  };
  // A broker of MQTT 5 may want another one than was asked for [MQTT5-3.2.2-21].
  const wanted = properties?.serverKeepAlive ?? keepaliveS;
  return { hadSession: packet.sessionPresent, version, keepaliveS: wanted, limits };
};

/**
 * CONNECT and its answer on a stream that is open. What the broker sends right behind the answer is put back, and the stream is
 * paused. `BUS_REFUSED` says why it does not want us, `BUS_UNAVAILABLE` that it hung up. The caller has a deadline.
 */
export const connectMqtt = (stream: Duplex, login: Login): Promise<Greeting> =>
  new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const release = (): void => {
      stream.off('data', onData);
      stream.off('close', onClose);
      stream.off('error', onError);
    };
    const onClose = (): void => {
      release();
      reject(new AppError('BUS_UNAVAILABLE', 'the broker hung up without a word', { facts: { isHungUp: true } }));
    };
    const onError = (cause: Error): void => {
      release();
      const isHungUp = (cause as NodeJS.ErrnoException).code === 'ECONNRESET';
      const sentence = `the broker is not reachable: ${cause.message}`;
      reject(new AppError('BUS_UNAVAILABLE', sentence, { cause, facts: { isHungUp } }));
    };
    const onData = (chunk: Buffer): void => {
      got = Buffer.concat([got, chunk]);
      try {
        const length = connackLength(got);
        if (length === null) return;
        release();
        stream.pause();
        if (got.length > length) stream.unshift(got.subarray(length));
        resolve(greetingOf(got.subarray(0, length), login));
      } catch (error) {
        release();
        reject(error);
      }
    };
    stream.on('data', onData);
    stream.on('close', onClose);
    stream.on('error', onError);
    stream.write(connectFrame(login));
  });

/** A filter with how it is to be subscribed to. */
export interface Wanted {
  readonly filter: string;
  readonly qos: 0 | 1 | 2;
}

/** A SUBSCRIBE frame. In MQTT 5 messages keep their retain flag, and retained ones come only with a new subscription. */
export const subscribeFrame = (wanted: readonly Wanted[], messageId: number, version: 4 | 5): Buffer =>
  generate(
    {
      cmd: 'subscribe',
      messageId,
      subscriptions: wanted.map(({ filter, qos }) => ({
        topic: filter,
        qos,
        ...(version === 5 && { rap: true, rh: 1, nl: false }),
      })),
    },
    { protocolVersion: version },
  );

/** An UNSUBSCRIBE frame. */
export const unsubscribeFrame = (filters: readonly string[], messageId: number, version: 4 | 5): Buffer =>
  generate({ cmd: 'unsubscribe', messageId, unsubscriptions: [...filters] }, { protocolVersion: version });
