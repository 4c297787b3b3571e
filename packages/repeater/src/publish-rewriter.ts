import { frameWriter } from './frame-writer.ts';
import { maxHeaderBytes, packetType, writeLength } from './mqtt-frame.ts';

/** Where a topic goes, or null where no rule wants it. */
export type TopicMap = (topic: string) => string | null;

/** What became of the frames of a chunk. */
export interface Rewritten {
  /** For the sink, in one write; null for nothing. */
  readonly forward: Buffer | null;
  /** Acknowledgements for the source of what no rule wants. */
  readonly back: Buffer | null;
  readonly messages: number;
}

/** Rewrites PUBLISH frames from a source for a sink, payloads untouched, packet ids kept. */
export interface PublishRewriter {
  readonly frame: (buffer: Buffer, start: number, body: number, end: number) => void;
  readonly take: () => Rewritten;
}

/** Topics whose mapping is remembered; beyond that it begins anew. */
const maxTopics = 65_536;

const retainBit = 1;

/**
 * A rewriter of PUBLISH and PUBREL frames (MQTT 3.1.1). A topic is mapped once and then found by its bytes, so that the
 * number of rules costs nothing. What no rule wants is acknowledged to the source here, and not forwarded.
 */
export const publishRewriter = (map: TopicMap, options: { readonly keepsRetain: boolean }): PublishRewriter => {
  const known = new Map<string, Buffer | null>();
  const forward = frameWriter();
  const back = frameWriter();
  /** Packet ids of dropped QoS 2 messages whose PUBREL is to come. */
  const dropped = new Set<number>();
  let messages = 0;

  const mapped = (key: string): Buffer | null => {
    const topic = map(Buffer.from(key, 'latin1').toString('utf8'));
    let bytes: Buffer | null = null;
    if (topic !== null) {
      const text = Buffer.from(topic, 'utf8');
      bytes = Buffer.concat([Buffer.from([text.length >> 8, text.length & 0xff]), text]);
    }
    if (known.size >= maxTopics) known.clear();
    known.set(key, bytes);
    return bytes;
  };

  const answer = (firstByte: number, buffer: Buffer, idAt: number): void => {
    const out = back.reserve(4);
    const at = back.at();
    out[at] = firstByte;
    out[at + 1] = 2;
    out[at + 2] = buffer[idAt] ?? 0;
    out[at + 3] = buffer[idAt + 1] ?? 0;
    back.advance(at + 4);
  };

  const drop = (buffer: Buffer, qos: number, idAt: number): void => {
    if (qos === 1) answer(packetType.puback << 4, buffer, idAt);
    if (qos === 2) {
      dropped.add(buffer.readUInt16BE(idAt));
      answer(packetType.pubrec << 4, buffer, idAt);
    }
  };

  const publish = (buffer: Buffer, start: number, body: number, end: number): void => {
    const first = buffer[start] ?? 0;
    const rest = body + 2 + (((buffer[body] ?? 0) << 8) | (buffer[body + 1] ?? 0));
    const key = buffer.toString('latin1', body + 2, rest);
    let topic = known.get(key);
    if (topic === undefined) topic = mapped(key);
    if (topic === null) {
      drop(buffer, (first >> 1) & 3, rest);
      return;
    }
    const tail = end - rest;
    const out = forward.reserve(maxHeaderBytes + topic.length + tail);
    let at = forward.at();
    out[at] = options.keepsRetain ? first : first & ~retainBit;
    at = writeLength(out, at + 1, topic.length + tail);
    at += topic.copy(out, at);
    at += buffer.copy(out, at, rest, end);
    forward.advance(at);
    messages += 1;
  };

  return {
    frame: (buffer, start, body, end) => {
      const type = (buffer[start] ?? 0) >> 4;
      if (type === packetType.publish) publish(buffer, start, body, end);
      else if (type === packetType.pubrel) {
        if (dropped.size > 0 && dropped.delete(buffer.readUInt16BE(body)))
          answer(packetType.pubcomp << 4, buffer, body);
        else forward.append(buffer, start, end);
      }
    },
    take: () => {
      const taken = { forward: forward.take(), back: back.take(), messages };
      messages = 0;
      return taken;
    },
  };
};
