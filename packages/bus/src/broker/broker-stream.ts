import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type FrameFault, frameScanner, type OnPacket } from './broker-frames.ts';

export interface BrokerStreamOptions {
  /** Asked of each packet that comes in, before its body is read. A fault ends the connection. */
  readonly onPacketIn: OnPacket;
  readonly onPacketOut: (bytes: number) => void;
  /** Turns a fault into the error that the connection ends with. */
  readonly errorFor: (fault: FrameFault) => Error;
  /** Bytes that may wait to be written before who writes has to wait. */
  readonly backlogBytes: number;
}

/** The socket of a client as the broker reads and writes it: no packet gets further than its fixed header unasked. */
export const brokerStream = (socket: Socket, options: BrokerStreamOptions): Duplex => {
  const scanIn = frameScanner(options.onPacketIn);
  const scanOut = frameScanner((_type, bytes) => {
    options.onPacketOut(bytes);
    return undefined;
  });
  const stream = new Duplex({
    writableHighWaterMark: options.backlogBytes,
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => {
      scanOut(chunk);
      socket.write(chunk, done);
    },
    writev: (chunks: { chunk: Buffer }[], done) => {
      socket.cork();
      for (const [index, { chunk }] of chunks.entries()) {
        scanOut(chunk);
        socket.write(chunk, index === chunks.length - 1 ? done : undefined);
      }
      socket.uncork();
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    const fault = scanIn(chunk);
    if (fault !== undefined) stream.destroy(options.errorFor(fault));
    else if (!stream.push(chunk)) socket.pause();
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', (error) => stream.destroy(error));
  socket.on('close', () => stream.destroy());
  return stream;
};
