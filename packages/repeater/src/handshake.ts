import type { Duplex } from 'node:stream';
import { AppError } from '@infrakit/core';
import { generate, type IConnectPacket } from 'mqtt-packet';

/** Who a connection is to the broker. */
export interface Login {
  readonly clientId: string;
  readonly clean: boolean;
  /** Between two signs of life, in s. */
  readonly keepaliveS: number;
  readonly username?: string;
  readonly password?: string;
}

const reasons: Readonly<Record<number, string>> = {
  1: 'it does not speak MQTT 3.1.1',
  2: 'the client id is not allowed',
  3: 'it is not available',
  4: 'the user name or password is wrong',
  5: 'it does not let us in',
};

/**
 * CONNECT and its answer on a stream that is open. What the broker sends right behind the answer is put back. Gives whether
 * the broker still had the session. `BUS_REFUSED` says why it does not want us, `BUS_UNAVAILABLE` that it hung up.
 */
export const connectMqtt311 = (stream: Duplex, login: Login): Promise<{ readonly hadSession: boolean }> =>
  new Promise((resolve, reject) => {
    const packet: IConnectPacket = {
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: login.clean,
      clientId: login.clientId,
      keepalive: login.keepaliveS,
      ...(login.username !== undefined && { username: login.username }),
      ...(login.password !== undefined && { password: Buffer.from(login.password) }),
    };
    let got = Buffer.alloc(0);
    const release = (): void => {
      stream.off('data', onData);
      stream.off('close', onClose);
      stream.off('error', onError);
    };
    const onClose = (): void => {
      release();
      reject(new AppError('BUS_UNAVAILABLE', 'the broker hung up without a word'));
    };
    const onError = (cause: Error): void => {
      release();
      reject(new AppError('BUS_UNAVAILABLE', `the broker is not reachable: ${cause.message}`, { cause }));
    };
    const onData = (chunk: Buffer): void => {
      got = Buffer.concat([got, chunk]);
      if (got.length < 4) return;
      release();
      stream.pause();
      if (got.length > 4) stream.unshift(got.subarray(4));
      const code = got[3] ?? 0;
      if (got[0] !== 0x20 || got[1] !== 2) reject(new AppError('BUS_REFUSED', 'what answers there is no MQTT broker'));
      else if (code !== 0)
        reject(new AppError('BUS_REFUSED', `the broker refuses us: ${reasons[code] ?? `code ${code}`}`));
      else resolve({ hadSession: ((got[2] ?? 0) & 1) === 1 });
    };
    stream.on('data', onData);
    stream.on('close', onClose);
    stream.on('error', onError);
    stream.write(generate(packet));
  });

/** A SUBSCRIBE frame. */
export const subscribeFrame = (filters: readonly string[], qos: 0 | 1 | 2, messageId: number): Buffer =>
  generate({ cmd: 'subscribe', messageId, subscriptions: filters.map((topic) => ({ topic, qos })) });
