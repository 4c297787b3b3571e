import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FrameFault, frameScanner } from './broker-frames.ts';

const digits = (length: number): number[] =>
  length < 128 ? [length] : [(length % 128) | 0x80, ...digits(Math.floor(length / 128))];

const packet = (type: number, body: number): Buffer =>
  Buffer.concat([Buffer.of(type << 4, ...digits(body)), Buffer.alloc(body, 0xff)]);

const scan = (chunks: readonly Uint8Array[], maxBytes = Number.POSITIVE_INFINITY) => {
  const seen: (readonly [number, number])[] = [];
  const feed = frameScanner((type, bytes) => {
    seen.push([type, bytes]);
    return bytes > maxBytes ? 'too-large' : undefined;
  });
  const faults = chunks.map(feed).filter((fault): fault is FrameFault => fault !== undefined);
  return { seen, faults };
};

describe('the packets of a stream', () => {
  it('are the same however it is cut into chunks [MQTT 2.2]', () => {
    const packets = fc.array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 40_000 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(
        packets,
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 20 }),
        (list, cuts) => {
          const bytes = Buffer.concat(list.map(([type, body]) => packet(type, body)));
          const chunks: Buffer[] = [];
          for (let at = 0, n = 0; at < bytes.length; n += 1) {
            const size = cuts[n % cuts.length] ?? 1;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const { seen, faults } = scan(chunks);
          expect(faults).toEqual([]);
          expect(seen).toEqual(list.map(([type, body]) => [type, packet(type, body).length]));
        },
      ),
    );
  });

  it('are judged by their header alone: five bytes that announce 256 MiB are refused at once', () => {
    const { seen, faults } = scan([Buffer.of(0x30), Buffer.of(0xff, 0xff, 0xff), Buffer.of(0x7f)], 1_000);
    expect(faults).toEqual(['too-large']);
    expect(seen).toEqual([[3, 5 + 268_435_455]]);
  });

  it('have a length of four digits at most [MQTT-2.2.3]', () => {
    expect(scan([Buffer.of(0x30, 0xff, 0xff, 0xff, 0xff)]).faults).toEqual(['malformed']);
  });
});
