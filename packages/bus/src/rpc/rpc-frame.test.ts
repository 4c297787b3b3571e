import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame, freezeParsed } from './rpc-frame.ts';

describe('messages as bytes', () => {
  it('comes back as it was', () => {
    const message = { text: 'Ünï 🐄', list: [1, null, { a: false }] };
    expect(decodeFrame(Buffer.from(encodeFrame(message, 1_000)))).toEqual(message);
  });

  it('one that is too large is PAYLOAD_TOO_LARGE, with its size', () => {
    expect(() => encodeFrame({ text: 'x'.repeat(100) }, 100)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', facts: { bytes: 111, maxMessageBytes: 100 } }),
    );
  });

  it.each([
    { big: 1n },
    {
      a: {
        toJSON: () => {
          throw new Error('no');
        },
      },
    },
  ])('what is no JSON is RESULT_INVALID', (message) => {
    expect(() => encodeFrame(message, 1_000)).toThrow(expect.objectContaining({ code: 'RESULT_INVALID' }));
  });

  it.each([Buffer.alloc(0), Buffer.from('{'), Buffer.from([0x22, 0xff, 0x22]), Buffer.from('{"a":1} x')])(
    'bytes %j are no message',
    (bytes) => expect(decodeFrame(bytes)).toBeUndefined(),
  );

  it('reads a view of a larger buffer', () => {
    expect(decodeFrame(Buffer.from('xx{"a":1}yy').subarray(2, 9))).toEqual({ a: 1 });
  });
});

describe('freezing what was parsed', () => {
  it('freezes every level in place', () => {
    const value = { list: [{ deep: { deeper: [1] } }], nothing: null };
    expect(freezeParsed(value)).toBe(value);
    for (const part of [value, value.list, value.list[0], value.list[0]?.deep, value.list[0]?.deep.deeper]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('is not felled by depth', () => {
    const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    expect(Object.isFrozen(freezeParsed(deep))).toBe(true);
  });
});
