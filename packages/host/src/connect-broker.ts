import { type Connection, connectMqtt, type MqttVersion, type TlsMaterial, type Will } from '@infrakit/bus';
import { AppError, type BrokerAddress, describeBroker, toAppError } from '@infrakit/core';
import { type Log, whenAborted } from '@infrakit/spi';
import { pause, stoppedEarly, type WaitDeps } from './waiting.ts';

export interface ConnectOptions {
  readonly address: BrokerAddress;
  readonly clientId: string;
  readonly will: Will;
  readonly tls: TlsMaterial;
  readonly version?: MqttVersion;
  /** Until the broker must have answered, in ms. */
  readonly timeoutMs: number;
}

export interface ConnectDeps extends WaitDeps {
  readonly random: () => number;
  readonly log: Log;
}

const attemptMs = 5_000;
const waits = { firstMs: 100, maxMs: 1_000 };

/** The connection, unless the signal aborts first: whatever comes later is closed. */
const unlessAborted = (connecting: Promise<Connection>, signal: AbortSignal): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const forget = whenAborted(signal, () => {
      reject(stoppedEarly());
      connecting.then((connection) => connection.close()).catch(() => undefined);
    });
    connecting.then(resolve, reject).finally(forget);
  });

/**
 * Connects to a broker that may still be starting: tries until it answers or the deadline has passed. Errors:
 * `BUS_REFUSED` at once, `BUS_UNAVAILABLE` after the deadline, `RPC_CANCELLED` when the host is to stop.
 */
export const connectBroker = async (options: ConnectOptions, deps: ConnectDeps): Promise<Connection> => {
  const { timeoutMs, ...rest } = options;
  const { nowMs, log } = deps;
  const deadlineMs = nowMs() + timeoutMs;
  let waitMs = waits.firstMs;
  for (;;) {
    if (deps.signal.aborted) throw stoppedEarly();
    const leftMs = deadlineMs - nowMs();
    try {
      const connectTimeoutMs = Math.max(1, Math.ceil(Math.min(attemptMs, leftMs)));
      return await unlessAborted(connectMqtt({ ...rest, connectTimeoutMs }, deps), deps.signal);
    } catch (thrown) {
      const error = toAppError(thrown);
      const restMs = deadlineMs - nowMs();
      if (error.code !== 'BUS_UNAVAILABLE') throw error;
      const broker = describeBroker(options.address);
      if (restMs <= waitMs) {
        throw new AppError('BUS_UNAVAILABLE', `${error.message}; tried for ${Math.round(timeoutMs)} ms`, {
          facts: { broker },
          cause: error,
        });
      }
      log.debug({ broker, reason: error.message, waitMs }, 'the broker is not there yet');
      await pause(waitMs, deps);
      waitMs = Math.min(waits.maxMs, waitMs * 2);
    }
  }
};
