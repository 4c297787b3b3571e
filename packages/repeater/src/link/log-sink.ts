import { Duplex } from 'node:stream';
import type { Log } from '@infrakit/spi';
import { type FrameVisitor, frameCutter } from '../wire/frame-cutter.ts';
import { ackFrame, packetType } from '../wire/mqtt-frame.ts';

const [connect, subscribe, unsubscribe, pingreq] = [1, 8, 10, 12];
const shownBytes = 4_096;
const maxBytes = 268_435_455 + 5;

/**
 * The sink `stderr` (GP §6.2): looks like a broker that takes everything, and writes each message to the log. What is no text is
 * shown in base64, long payloads with their first bytes.
 */
export const logSink = (log: Log): Duplex => {
  const cut = frameCutter({ maxBytes });
  const publish: FrameVisitor = (buffer, start, body, end) => {
    const qos = ((buffer[start] ?? 0) >> 1) & 3;
    const rest = body + 2 + buffer.readUInt16BE(body);
    const topic = buffer.toString('utf8', body + 2, rest);
    const payload = buffer.subarray(rest + (qos > 0 ? 2 : 0), end);
    const text = payload.toString('utf8', 0, shownBytes);
    const isText = !text.includes('\ufffd') && !text.includes('\0');
    const shown = isText ? { payload: text } : { base64: payload.toString('base64', 0, shownBytes) };
    log.info({ topic, bytes: payload.length, ...shown }, 'event');
    if (qos > 0)
      stream.push(ackFrame((qos === 1 ? packetType.puback : packetType.pubrec) << 4, buffer.readUInt16BE(rest)));
  };
  const visit: FrameVisitor = (buffer, start, body, end) => {
    switch ((buffer[start] ?? 0) >> 4) {
      case connect:
        stream.push(Buffer.from([packetType.connack << 4, 2, 0, 0]));
        break;
      case packetType.publish:
        publish(buffer, start, body, end);
        break;
      case packetType.pubrel:
        stream.push(ackFrame(packetType.pubcomp << 4, buffer.readUInt16BE(body)));
        break;
      case subscribe:
        stream.push(Buffer.from([packetType.suback << 4, 3, buffer[body] ?? 0, buffer[body + 1] ?? 0, 0x80]));
        break;
      case unsubscribe:
        stream.push(ackFrame(packetType.unsuback << 4, buffer.readUInt16BE(body)));
        break;
      case pingreq:
        stream.push(Buffer.from([packetType.pingresp << 4, 0]));
        break;
      default:
        break;
    }
  };
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      try {
        cut(chunk, visit);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  return stream;
};
