import { type LoadEnd, openEnd } from './end.ts';
import { ackBatch, publishPacket } from './frames.ts';

export interface LoadOptions {
  readonly source: LoadEnd;
  readonly sink: LoadEnd;
  /** Starts what is between the ends, given the ports of those that we play. */
  readonly start: (ports: { readonly source: number; readonly sink: number }) => Promise<void>;
  readonly qos: 0 | 1 | 2;
  readonly payloadBytes: number;
  readonly measureMs: number;
  /** Is told when the measured time begins and ends. */
  readonly at?: (moment: 'begin' | 'end') => void;
}

/** What was measured at full speed, with at most 1,000 messages under way. */
export interface LoadResult {
  readonly perSecond: number;
  /** In the measured time. */
  readonly messages: number;
  readonly lost: number;
  readonly doubled: number;
  /** Within one topic. */
  readonly misordered: number;
}

const [topics, windowSize, warmUp, patienceMs] = [1_000, 1_000, 5_000, 15_000];
/** Fewer are not worth a write. */
const fewest = 50;

/** What has arrived, by sequence number. */
const arrivals = () => {
  const seen = new Set<number>();
  const last = new Int32Array(topics).fill(-1);
  let [doubled, misordered] = [0, 0];
  return {
    add: (sequence: number): void => {
      if (seen.has(sequence)) {
        doubled += 1;
        return;
      }
      seen.add(sequence);
      const topic = sequence % topics;
      if ((last[topic] ?? -1) > sequence) misordered += 1;
      last[topic] = sequence;
    },
    count: () => seen.size,
    faults: () => ({ doubled, misordered }),
  };
};

/** Packet ids of one direction. */
const packetIds = () => {
  const isBusy = new Uint8Array(65_536);
  let [free, id] = [65_535, 0];
  return {
    free: () => free,
    take: (): number => {
      do id = (id % 65_535) + 1;
      while (isBusy[id] === 1);
      isBusy[id] = 1;
      free -= 1;
      return id;
    },
    give: (done: number): void => {
      free += isBusy[done] ?? 0;
      isBusy[done] = 0;
    },
  };
};

/** Publishes `s/…` at the source as fast as what is between the ends takes it, and counts what arrives at the sink as `mirror/s/…`. */
export const measureLoad = async (options: LoadOptions): Promise<LoadResult> => {
  const { qos, payloadBytes, measureMs, at: tell } = options;
  const source = await openEnd(options.source, null, qos);
  const sink = await openEnd(options.sink, 'mirror/#', qos);
  await options.start({ source: source.port, sink: sink.port });
  const [from, to] = await Promise.all([source.ready, sink.ready]);

  const payload = Buffer.alloc(payloadBytes, 'x');
  const templates = Array.from({ length: topics }, (_, n) =>
    publishPacket(`s/t/${`${n}`.padStart(4, '0')}/event/created`, payload, qos),
  );
  const size = templates[0]?.length ?? 0;
  const ids = packetIds();
  const arrived = arrivals();
  let sent = 0;
  let [isSending, isThrough] = [true, false];
  let wake = (): void => undefined;

  const publish = (): void => {
    if (!isSending || !isThrough) return;
    const count = Math.min(windowSize - (sent - arrived.count()), ids.free());
    if (count < fewest) return;
    const out = Buffer.allocUnsafe(size * count);
    for (let end = size; end <= out.length; end += size) {
      templates[sent % topics]?.copy(out, end - size);
      if (qos > 0) out.writeUInt16BE(ids.take(), end - payloadBytes - 2);
      out.writeUInt32BE(sent, end - payloadBytes);
      sent += 1;
    }
    from.write(out);
  };
  const sourceAcks = ackBatch((bytes) => void from.write(bytes));
  source.follow(
    (type, packet, body) => {
      if (type === 5) sourceAcks.add(0x62, packet.readUInt16BE(body));
      else if (type === 4 || type === 7) ids.give(packet.readUInt16BE(body));
    },
    () => {
      sourceAcks.flush();
      publish();
    },
  );
  const sinkAcks = ackBatch((bytes) => void to.write(bytes));
  sink.follow(
    (type, packet, body) => {
      if (type === 6) sinkAcks.add(0x70, packet.readUInt16BE(body));
      if (type !== 3) return;
      const gotQos = ((packet[0] ?? 0) >> 1) & 3;
      if (gotQos > 0)
        sinkAcks.add(gotQos === 1 ? 0x40 : 0x50, packet.readUInt16BE(body + 2 + packet.readUInt16BE(body)));
      if (packet.length < payloadBytes) isThrough = true;
      else arrived.add(packet.readUInt32BE(packet.length - payloadBytes));
    },
    () => {
      sinkAcks.flush();
      publish();
      wake();
    },
  );
  const until = async (isDone: () => boolean): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    while (!isDone() && performance.now() < deadline) {
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 20);
      });
    }
  };
  // Until what is between the ends has subscribed, nothing comes through.
  const probe = publishPacket('s/probe', Buffer.from('x'), 0);
  const probing = setInterval(() => from.write(probe), 20);
  await until(() => isThrough);
  clearInterval(probing);
  publish();
  await until(() => arrived.count() >= warmUp);
  const [before, beganMs] = [arrived.count(), performance.now()];
  tell?.('begin');
  await until(() => performance.now() > beganMs + measureMs);
  tell?.('end');
  const [messages, tookMs] = [arrived.count() - before, performance.now() - beganMs];
  isSending = false;
  await until(() => arrived.count() === sent);
  source.close();
  sink.close();
  const perSecond = Math.round((messages * 1_000) / tookMs);
  return { perSecond, messages, lost: sent - arrived.count(), ...arrived.faults() };
};
