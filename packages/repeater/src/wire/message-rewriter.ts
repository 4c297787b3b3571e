import { AppError } from '@infrakit/core';
import type { PublishWindow } from '../link/publish-window.ts';
import type { Route, RouteCounter, RouteMap } from '../mirror/route.ts';
import { routeCache, type Target } from '../mirror/route-cache.ts';
import type { BrokerLimits } from './broker-limits.ts';
import { malformed } from './frame-cutter.ts';
import { frameWriter } from './frame-writer.ts';
import { noProperties, type PassedOn, passedOn } from './message-properties.ts';
import { ackFrame, maxHeaderBytes, packetType, readLength, writeLength } from './mqtt-frame.ts';
import { type PublishRewriter, topicEnd } from './publish-rewriter.ts';

/** How a rewriter of whole messages is set up. */
export interface MessageRewriterOptions {
  /** What each side speaks. */
  readonly source: 4 | 5;
  readonly sink: 4 | 5;
  readonly limits: BrokerLimits;
  /** Through how many repeaters a message may come, where both sides speak MQTT 5. */
  readonly maxHops: number;
  /** What this one counts for, 1 when left out; 0 for the way into a buffer of ours. */
  readonly hop?: 0 | 1;
  readonly window: PublishWindow | null;
}

/** A rewriter that also knows what the acknowledgements of the sink mean for the source. */
export interface MessageRewriter extends PublishRewriter {
  /**
   * The sink acknowledged a message. Gives the type of the packet that the source is to get for it. Throws `BUS_UNAVAILABLE` when
   * the sink will not have it now, and may later.
   */
  readonly acknowledged: (type: number, id: number, reason: number) => number;
}

const maxRemaining = 268_435_455;
const [retainBit, dupBit] = [1, 8];
const { publish: publishType, puback, pubrec, pubrel, pubcomp } = packetType;

/** Reason codes by which a sink says that it will never take a message [MQTT5-3.4.2.1]. */
const refusals: Readonly<Record<number, string>> = {
  135: 'we may not publish there',
  144: 'the topic is not allowed',
  149: 'the packet is too large',
  153: 'the payload is not of the form that is told',
};

/** Where properties begin and end, and so the payload begins. */
const propertiesAt = (buffer: Buffer, at: number, end: number): readonly [from: number, to: number] => {
  const { length, behind } = readLength(buffer, at, end);
  if (behind + length > end) throw malformed('properties that are longer than their packet');
  return [behind, behind + length];
};

/**
 * A rewriter for brokers that differ in what they speak, or of which one has limits: what the sink does not take is dropped, counted
 * and acknowledged, a QoS that it does not know is lowered, properties go along where both speak MQTT 5. Packet ids are kept.
 */
export const messageRewriter = (first: RouteMap, options: MessageRewriterOptions): MessageRewriter => {
  const { source, sink, limits, maxHops, hop = 1, window } = options;
  const { maxPacketBytes, maxQos, isRetainAvailable } = limits;
  const isPassing = source === 5 && sink === 5;
  const routes = routeCache(first);
  const forward = frameWriter();
  const back = frameWriter();
  /** Packet ids of QoS 2 messages that the sink knows nothing of, whose PUBREL is to come. */
  const ours = new Set<number>();
  /** Packet ids of QoS 2 messages that went to the sink with QoS 1. */
  const lowered = new Set<number>();
  /** Whose the messages are that the sink has not acknowledged, by packet id. */
  const owners: (RouteCounter | undefined)[] = [];
  let messages = 0;
  let sent = 0;
  /** The frame that was written last. */
  let lastBytes = 0;

  const answer = (type: number, id: number): void => back.append(ackFrame(type << 4, id), 0, 4);

  /** Acknowledges in the place of the sink. */
  const settle = (buffer: Buffer, qos: number, idAt: number): void => {
    if (qos === 0) return;
    const id = buffer.readUInt16BE(idAt);
    if (qos === 2) ours.add(id);
    answer(qos === 1 ? puback : pubrec, id);
  };

  const flagsFor = (flags: number, qos: number, { retain }: Route): number => {
    const isKept = retain === 'keep' || (retain === 'if-told' && source === 5);
    const isRetained = retain === 'always' || (isKept && (flags & retainBit) === retainBit);
    const dup = qos > 0 ? flags & dupBit : 0;
    return (publishType << 4) | dup | (qos << 1) | (isRetained && isRetainAvailable ? retainBit : 0);
  };

  const propertiesFor = (buffer: Buffer, from: number, to: number, route: Route): PassedOn => {
    const { contentType } = route;
    if (isPassing) return passedOn(buffer, from, to, { hop, contentType });
    // A source of 3.1.1 has no properties, and a payload that we have formed has a type all the same.
    if (sink === 5 && contentType !== undefined) return passedOn(buffer, to, to, { hop: 0, contentType });
    return { bytes: sink === 5 ? noProperties : noProperties.subarray(1), hops: 0 };
  };

  /** Writes a PUBLISH; what is wrong with it where the sink would not take it. */
  const write = (
    flags: number,
    { bytes }: Target,
    parts: readonly [head: Buffer, properties: PassedOn, payload: Buffer],
  ): string | null => {
    const [head, properties, payload] = parts;
    if (properties.hops > maxHops) {
      return `it has come through ${maxHops} repeaters, and more are not allowed: do they feed each other?`;
    }
    const length = bytes.length + head.length + properties.bytes.length + payload.length;
    const out = forward.reserve(maxHeaderBytes + length);
    const start = forward.at();
    out[start] = flags;
    let at = writeLength(out, start + 1, length);
    const whole = at - start + length;
    if (length > maxRemaining || whole > maxPacketBytes) {
      return `a packet of ${whole} bytes is more than the ${maxPacketBytes} that the sink takes`;
    }
    at += bytes.copy(out, at);
    at += head.copy(out, at);
    at += properties.bytes.copy(out, at);
    at += payload.copy(out, at);
    forward.advance(at);
    lastBytes = whole;
    return null;
  };

  /** Writes the message for the sink; why not, where it goes nowhere. */
  const rewrite = (
    buffer: Buffer,
    target: Target,
    places: readonly [flags: number, rest: number, end: number],
  ): string | null => {
    const [flags, rest, end] = places;
    const { route } = target;
    const qos = (flags >> 1) & 3;
    const sinkQos = Math.min(qos, maxQos);
    const idEnd = rest + (qos > 0 ? 2 : 0);
    const [from, to] = source === 5 ? propertiesAt(buffer, idEnd, end) : [idEnd, idEnd];
    const plain = buffer.subarray(to, end);
    if (plain.length > route.maxBytes) return `${plain.length} bytes are more than the rule takes`;
    const payload = route.form === undefined ? plain : route.form(plain);
    if (payload === null) return 'the payload cannot be brought into the form of the rule';
    const head = buffer.subarray(rest, sinkQos > 0 ? idEnd : rest);
    return write(flagsFor(flags, sinkQos, route), target, [head, propertiesFor(buffer, from, to, route), payload]);
  };

  const publish = (buffer: Buffer, start: number, body: number, end: number): void => {
    const flags = buffer[start] ?? 0;
    const qos = (flags >> 1) & 3;
    const rest = topicEnd(buffer, qos, body, end);
    const target = routes.find(buffer.toString('latin1', body + 2, rest));
    if (target === null) {
      settle(buffer, qos, rest);
      return;
    }
    const { counter } = target.route;
    const fault = rewrite(buffer, target, [flags, rest, end]);
    if (fault !== null) {
      counter.dropped += 1;
      counter.lastDrop = fault;
      settle(buffer, qos, rest);
      return;
    }
    const sinkQos = Math.min(qos, maxQos);
    const id = qos > 0 ? buffer.readUInt16BE(rest) : 0;
    counter.messages += 1;
    counter.bytes += end - rest;
    messages += 1;
    if (sinkQos > 0) {
      sent += 1;
      owners[id] = counter;
      if (sinkQos < qos) lowered.add(id);
    } else settle(buffer, qos, rest);
    if (window !== null && !window.admits(sinkQos, id)) {
      window.hold(forward.cut(lastBytes), sinkQos, id);
    }
  };

  const release = (id: number): void => {
    if (ours.delete(id) || maxQos < 2) answer(pubcomp, id);
    else {
      window?.released(id);
      forward.append(ackFrame((pubrel << 4) | 2, id), 0, 4);
    }
  };

  const completed = (id: number): void => {
    for (const frame of window?.completed(id) ?? []) forward.append(frame, 0, frame.length);
  };

  /** The sink does not take a message. */
  const refused = (id: number, reason: number): void => {
    const why = refusals[reason];
    if (why === undefined) {
      throw new AppError('BUS_UNAVAILABLE', `the sink does not take a message now: code ${reason}`);
    }
    const counter = owners[id];
    if (counter === undefined) return;
    counter.messages -= 1;
    counter.dropped += 1;
    counter.lastDrop = `the sink refuses it: ${why}`;
  };

  return {
    frame: (buffer, start, body, end) => {
      const type = (buffer[start] ?? 0) >> 4;
      if (type === publishType) return publish(buffer, start, body, end);
      if (end - body < 2) throw malformed('a PUBREL without a packet id [MQTT-2.3.1-1]');
      release(buffer.readUInt16BE(body));
    },
    tooLarge: (buffer, start, body, end) => {
      const qos = ((buffer[start] ?? 0) >> 1) & 3;
      const rest = topicEnd(buffer, qos, body, end);
      const target = routes.find(buffer.toString('latin1', body + 2, rest));
      if (target !== null) {
        target.route.counter.dropped += 1;
        target.route.counter.lastDrop = 'it is larger than this repeater takes';
      }
      settle(buffer, qos, rest);
    },
    acknowledged: (type, id, reason) => {
      const isRefused = reason >= 0x80 && type !== pubcomp;
      if (isRefused) refused(id, reason);
      if (type === pubrec && !isRefused) return pubrec;
      completed(id);
      if (type === pubcomp) return pubcomp;
      if (type === puback && !lowered.delete(id)) return puback;
      ours.add(id);
      return pubrec;
    },
    completed,
    take: () => ({ forward: forward.take(), back: back.take() }),
    reroute: routes.reroute,
    messages: () => messages,
    sent: () => sent,
  };
};
