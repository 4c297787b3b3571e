import { AppError } from '@infrakit/core';
import { generate } from 'mqtt-packet';
import type { Endpoint } from '../link/endpoint.ts';
import { type ConnectDeps, leave } from '../link/link-connect.ts';
import { connectNewest } from '../link/link-pair.ts';
import { frameCutter, malformed } from '../wire/frame-cutter.ts';
import { packetType } from '../wire/mqtt-frame.ts';

/** A connection to a sink that retains messages there. */
export interface RetainedWriter {
  /**
   * Retains a message, or removes what is retained when it is empty; resolves when the sink has acknowledged it. A sink that will
   * never take it gives why. Rejects with `BUS_UNAVAILABLE` when the connection ends before.
   */
  readonly write: (topic: string, payload: Buffer) => Promise<string | null>;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly frame: Buffer;
  readonly id: number;
  readonly resolve: (why: string | null) => void;
  readonly reject: (error: AppError) => void;
}

const maxSinkBytes = 64 * 1024;
/** Messages under way at once, if the sink takes as many. */
const mostUnderWay = 64;
/** Reason codes that a later try may not have [MQTT5-3.4.2.1]: a quota, and faults of the sink. */
const passing: ReadonlySet<number> = new Set([0x80, 0x83, 0x91, 0x97]);

/** Connects with a session that ends with the connection. `BUS_REFUSED` for a sink that retains nothing; else those of `connectTo`. */
export const openRetainedWriter = async (
  endpoint: Endpoint,
  clientId: string,
  deps: ConnectDeps,
): Promise<RetainedWriter> => {
  const { clock, timeoutMs, signal } = deps;
  const keepaliveS = Math.max(5, Math.ceil((2 * timeoutMs) / 1_000)) * 10;
  const { stream, limits, version } = await connectNewest(endpoint, { clientId, clean: true, keepaliveS }, deps);
  if (!limits.isRetainAvailable) {
    await leave(stream, clock);
    throw new AppError('BUS_REFUSED', 'the sink does not allow messages to be retained');
  }
  const qos = limits.maxQos === 0 ? 0 : 1;
  const most = Math.min(mostUnderWay, limits.receiveMaximum);
  const underWay = new Map<number, Waiting>();
  const queue: Waiting[] = [];
  let lastId = 0;
  let ended: AppError | null = null;
  let forget = (): void => undefined;

  const end = (error: AppError): void => {
    ended ??= error;
    forget();
    stream.destroy();
    for (const one of [...underWay.values(), ...queue.splice(0)]) one.reject(ended);
    underWay.clear();
  };
  const watch = (): void => {
    forget();
    if (underWay.size === 0) return;
    forget = clock.after(timeoutMs, () =>
      end(new AppError('BUS_UNAVAILABLE', `the sink acknowledges nothing for ${timeoutMs} ms`)),
    );
  };
  const send = (): void => {
    while (underWay.size < most) {
      const next = queue.shift();
      if (next === undefined) break;
      stream.write(next.frame);
      if (qos === 0) next.resolve(null);
      else underWay.set(next.id, next);
    }
    watch();
  };
  const nextId = (): number => {
    lastId = (lastId % 65_535) + 1;
    return lastId;
  };

  const cut = frameCutter({ maxBytes: maxSinkBytes });
  stream.on('data', (chunk: Buffer) => {
    try {
      cut(chunk, (buffer, start, body, frameEnd) => {
        if ((buffer[start] ?? 0) >> 4 !== packetType.puback) return;
        if (frameEnd - body < 2) throw malformed('an acknowledgement of another length [MQTT-3.4.1]');
        const id = buffer.readUInt16BE(body);
        const reason = frameEnd - body > 2 ? (buffer[body + 2] ?? 0) : 0;
        if (passing.has(reason)) throw new AppError('BUS_UNAVAILABLE', `the sink does not take it now: code ${reason}`);
        const one = underWay.get(id);
        underWay.delete(id);
        one?.resolve(reason >= 0x80 ? `the sink refuses it: code ${reason}` : null);
      });
      send();
    } catch (error) {
      end(error instanceof AppError ? error : new AppError('BUS_UNAVAILABLE', String(error)));
    }
  });
  stream.on('close', () => end(new AppError('BUS_UNAVAILABLE', 'the sink closed the connection')));
  signal.addEventListener('abort', () => end(new AppError('RPC_CANCELLED', 'the mirror is being stopped')), {
    once: true,
  });
  stream.resume();

  return {
    write: async (topic, payload) => {
      if (ended !== null) throw ended;
      const id = nextId();
      const frame = generate(
        { cmd: 'publish', topic, payload, qos, messageId: id, dup: false, retain: true },
        { protocolVersion: version },
      );
      if (frame.length > limits.maxPacketBytes) {
        return `a packet of ${frame.length} bytes is more than the ${limits.maxPacketBytes} that the sink takes`;
      }
      return new Promise((resolve, reject) => {
        queue.push({ frame, id, resolve, reject });
        send();
      });
    },
    close: () => leave(stream, clock),
  };
};
