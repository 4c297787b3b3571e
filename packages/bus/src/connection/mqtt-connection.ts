import { AppError, type BrokerAddress, decorrelatedBackoff, describeBroker } from '@infrakit/core';
import { filter, firstValueFrom } from 'rxjs';
import type { Connection, Will } from './connection.ts';
import type { OpenLink } from './link.ts';
import { type LinkedConnectionDeps, linkedConnection } from './linked-connection.ts';
import { mayBeVersion, mqttError } from './mqtt-errors.ts';
import { type MqttLinkOptions, type MqttVersion, openMqttLink } from './mqtt-link.ts';
import type { TlsMaterial } from './mqtt-stream.ts';

export interface MqttOptions {
  readonly address: BrokerAddress;
  /** Unique at the broker: another client with the same id would throw this one out. */
  readonly clientId: string;
  readonly will?: Will;
  readonly tls?: TlsMaterial;
  /** Deadline of one attempt to connect; 5 s when left out. */
  readonly connectTimeoutMs?: number;
  /** Default deadline of a publish and of `ready`; 10 s when left out. */
  readonly timeoutMs?: number;
  /** After one and a half times this without a sign of life each side gives the other up; 15 s when left out. */
  readonly keepaliveMs?: number;
  /** Only this version of MQTT; else 5 where the broker has it and 3.1.1 where not. */
  readonly version?: MqttVersion;
}

export interface MqttDeps extends LinkedConnectionDeps {
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Waits between attempts: short enough to be back within 5 s of a broker's restart, and patient with one that refuses. */
const retryBounds = { baseMs: 100, maxMs: 1_500 };
const refusedBounds = { baseMs: 1_000, maxMs: 60_000 };

const hungUp = 'the broker hung up without a word';

/**
 * Attempts at one broker: MQTT 5 first, 3.1.1 at once when the broker refuses 5 or hangs up on it, and from then on what
 * worked. One deadline covers both.
 */
const opener = (options: MqttLinkOptions, only: MqttVersion | undefined, after: MqttDeps['after']): OpenLink => {
  const broker = describeBroker(options.address);
  let version: MqttVersion = only ?? '5';
  return ({ up, message, down }) => {
    let dropCurrent: () => void = () => {};
    const stopTimer = after(options.connectTimeoutMs, () => {
      dropCurrent();
      down(
        new AppError('BUS_UNAVAILABLE', `${broker} did not answer within ${options.connectTimeoutMs} ms`, {
          facts: { broker, timeoutMs: options.connectTimeoutMs },
        }),
      );
    });
    const attempt = (tried: MqttVersion): (() => void) =>
      openMqttLink(options, tried, {
        up: (link) => {
          stopTimer();
          version = tried;
          up(link);
        },
        message,
        down: (cause, wasUp) => {
          const mayFallBack = !wasUp && tried === '5' && only === undefined;
          if (mayFallBack && mayBeVersion(cause)) return begin('3.1.1');
          stopTimer();
          down(mqttError(broker, cause ?? hungUp));
        },
      });
    const begin = (tried: MqttVersion): void => {
      try {
        dropCurrent = attempt(tried);
      } catch (error) {
        // A certificate or key that cannot be read is found out before anything is sent.
        stopTimer();
        down(mqttError(broker, error));
      }
    };
    begin(version);
    return () => {
      stopTimer();
      dropCurrent();
    };
  };
};

/**
 * A connection to a broker, once it is there. Afterwards it reconnects by itself, with decorrelated jitter, until it is
 * closed. Errors of the first attempt, after at most `connectTimeoutMs`: `BUS_REFUSED` (not authorised, certificate,
 * client id), `BUS_UNAVAILABLE` (nothing there, or no answer), each in one sentence.
 */
export const connectMqtt = async (options: MqttOptions, deps: MqttDeps): Promise<Connection> => {
  const { tls = {}, connectTimeoutMs = 5_000, timeoutMs = 10_000, keepaliveMs = 15_000, version, ...rest } = options;
  const { after, log, random } = deps;
  let firstError: AppError | undefined;
  const connection = linkedConnection(
    {
      clientId: options.clientId,
      broker: describeBroker(options.address),
      open: opener({ ...rest, tls, connectTimeoutMs, keepaliveMs }, version, after),
      waitMs: (previousMs, error) => {
        firstError ??= error;
        return decorrelatedBackoff(previousMs, random, error.code === 'BUS_REFUSED' ? refusedBounds : retryBounds);
      },
      timeoutMs,
    },
    { after, log },
  );
  const first = await firstValueFrom(
    connection.status.pipe(filter(({ kind }) => kind === 'connected' || firstError !== undefined)),
  );
  if (first.kind === 'connected') return connection;
  await connection.close();
  throw firstError ?? mqttError(describeBroker(options.address), hungUp);
};
