import type { PublishWindow } from '../link/publish-window.ts';
import type { RouteMap } from '../mirror/route.ts';
import { routeCache, type Target } from '../mirror/route-cache.ts';
import { malformed } from './frame-cutter.ts';
import { frameWriter } from './frame-writer.ts';
import { ackFrame, maxHeaderBytes, packetType, writeLength } from './mqtt-frame.ts';

/** What became of the frames of a chunk. */
export interface Rewritten {
  /** For the sink, in one write; null for nothing. */
  readonly forward: Buffer | null;
  /** Acknowledgements for the source of what no rule wants. */
  readonly back: Buffer | null;
}

/** Rewrites PUBLISH frames from a source for a sink, payloads untouched, packet ids kept. */
export interface PublishRewriter {
  /** A PUBLISH or PUBREL. */
  readonly frame: (buffer: Buffer, start: number, body: number, end: number) => void;
  /** The head of a PUBLISH that is too large for anybody: it is acknowledged and goes nowhere. */
  readonly tooLarge: (buffer: Buffer, start: number, body: number, end: number) => void;
  /** The sink has completed a QoS 2 message: others may go that waited for that. */
  readonly completed: (id: number) => void;
  readonly take: () => Rewritten;
  /** The rules are others from now on. */
  readonly reroute: (map: RouteMap) => void;
  /** Messages forwarded so far, and those of them that the sink is to acknowledge. */
  readonly messages: () => number;
  readonly sent: () => number;
}

const maxRemaining = 268_435_455;
const retainBit = 1;

/** Where the topic of a PUBLISH ends; its packet id, if it has one, must fit in too. */
export const topicEnd = (buffer: Buffer, qos: number, body: number, end: number): number => {
  if (qos === 3) throw malformed('a QoS of 3 [MQTT-3.3.1-4]');
  const rest = body + 2 + (((buffer[body] ?? 0) << 8) | (buffer[body + 1] ?? 0));
  if (rest + (qos > 0 ? 2 : 0) > end) throw malformed('a topic that is longer than its packet [MQTT-3.3.2-1]');
  return rest;
};

/**
 * A rewriter of PUBLISH and PUBREL frames of 3.1.1, for a sink that takes them all. The route of a topic is looked up once and then found by the topic's bytes, so
 * that the number of rules costs nothing. What no rule wants is acknowledged to the source here, and not forwarded.
 * Broken frames are errors (`BUS_REFUSED`).
 */
export const publishRewriter = (first: RouteMap, window: PublishWindow | null): PublishRewriter => {
  const routes = routeCache(first);
  const forward = frameWriter();
  const back = frameWriter();
  /** Packet ids of dropped QoS 2 messages whose PUBREL is to come. */
  const dropped = new Set<number>();
  let messages = 0;
  let sent = 0;

  const answer = (firstByte: number, id: number): void => {
    back.append(ackFrame(firstByte, id), 0, 4);
  };

  const drop = (buffer: Buffer, qos: number, idAt: number): void => {
    if (qos === 1) answer(packetType.puback << 4, buffer.readUInt16BE(idAt));
    if (qos === 2) {
      const id = buffer.readUInt16BE(idAt);
      dropped.add(id);
      answer(packetType.pubrec << 4, id);
    }
  };

  /** Writes a PUBLISH: `id` bytes from `rest` on, then `payload`. */
  const write = (flags: number, target: Target, head: Buffer, payload: Buffer): boolean => {
    const length = target.bytes.length + head.length + payload.length;
    if (length > maxRemaining) return false;
    const out = forward.reserve(maxHeaderBytes + length);
    let at = forward.at();
    out[at] = flags;
    at = writeLength(out, at + 1, length);
    at += target.bytes.copy(out, at);
    at += head.copy(out, at);
    at += payload.copy(out, at);
    forward.advance(at);
    return true;
  };

  /** The slower way: the payload is looked at. */
  const rewrite = (
    buffer: Buffer,
    target: Target,
    places: readonly [flags: number, rest: number, end: number],
  ): boolean => {
    const [flags, rest, end] = places;
    const idEnd = rest + ((flags >> 1) & 3 ? 2 : 0);
    const plain = buffer.subarray(idEnd, end);
    if (plain.length > target.route.maxBytes) return false;
    const payload = target.route.form === undefined ? plain : target.route.form(plain);
    return payload !== null && write(flags, target, buffer.subarray(rest, idEnd), payload);
  };

  const publish = (buffer: Buffer, start: number, body: number, end: number): void => {
    const flags = buffer[start] ?? 0;
    const qos = (flags >> 1) & 3;
    const rest = topicEnd(buffer, qos, body, end);
    const key = buffer.toString('latin1', body + 2, rest);
    const target = routes.find(key);
    if (target === null) {
      drop(buffer, qos, rest);
      return;
    }
    const { route, bytes } = target;
    const { counter, retain } = route;
    // Before anything is reserved, so that no later move of the buffer makes it wrong.
    forward.reserve(2 * maxHeaderBytes + bytes.length + end - start);
    const before = forward.at();
    let to = flags;
    if (retain === 'always') to = flags | retainBit;
    else if (retain !== 'keep') to = flags & ~retainBit;
    const tail = end - rest;
    if (route.form === undefined && tail <= route.maxBytes) {
      const out = forward.reserve(maxHeaderBytes + bytes.length + tail);
      let at = forward.at();
      out[at] = to;
      at = writeLength(out, at + 1, bytes.length + tail);
      at += bytes.copy(out, at);
      at += buffer.copy(out, at, rest, end);
      forward.advance(at);
    } else if (!rewrite(buffer, target, [to, rest, end])) {
      counter.dropped += 1;
      drop(buffer, qos, rest);
      return;
    }
    counter.messages += 1;
    counter.bytes += tail;
    messages += 1;
    if (qos > 0) sent += 1;
    if (window === null) return;
    const id = qos > 0 ? buffer.readUInt16BE(rest) : 0;
    if (!window.admits(qos, id)) window.hold(forward.cut(forward.at() - before), qos, id);
  };

  return {
    frame: (buffer, start, body, end) => {
      const type = (buffer[start] ?? 0) >> 4;
      if (type === packetType.publish) return publish(buffer, start, body, end);
      if (end - body < 2) throw malformed('a PUBREL without a packet id [MQTT-2.3.1-1]');
      const id = buffer.readUInt16BE(body);
      if (dropped.size > 0 && dropped.delete(id)) answer(packetType.pubcomp << 4, id);
      else {
        window?.released(id);
        forward.append(ackFrame((packetType.pubrel << 4) | 2, id), 0, 4);
      }
    },
    tooLarge: (buffer, start, body, end) => {
      const qos = ((buffer[start] ?? 0) >> 1) & 3;
      const rest = topicEnd(buffer, qos, body, end);
      const key = buffer.toString('latin1', body + 2, rest);
      const target = routes.find(key);
      if (target !== null) target.route.counter.dropped += 1;
      drop(buffer, qos, rest);
    },
    completed: (id) => {
      for (const frame of window?.completed(id) ?? []) forward.append(frame, 0, frame.length);
    },
    take: () => ({ forward: forward.take(), back: back.take() }),
    reroute: routes.reroute,
    messages: () => messages,
    sent: () => sent,
  };
};
