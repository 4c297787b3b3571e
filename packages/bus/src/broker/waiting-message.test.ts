import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levelPersistence } from './broker-level.ts';
import { brokerSessions } from './broker-sessions.ts';
import { decodeWaiting, encodeReleased, encodeWaiting, waitingKey } from './waiting-message.ts';

const ignore = (): void => undefined;

const message = fc.record({
  topic: fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }),
  payload: fc.uint8Array({ maxLength: 1_000 }).map((bytes) => Buffer.from(bytes)),
  qos: fc.constantFrom(1, 2),
  retain: fc.boolean(),
  messageId: fc.integer({ min: 0, max: 65_535 }),
});

describe('a message that waits', () => {
  it('is read as it was written, by us and by the persistence of aedes', () =>
    fc.assert(
      fc.asyncProperty(message, fc.nat({ max: 2 ** 40 }), async (waiting, number) => {
        const key = waitingKey('a:b', '000000001', number);
        const value = encodeWaiting(key, waiting);
        expect(decodeWaiting(value)).toEqual({ ...waiting, stage: 'publish' });
        const sessions = brokerSessions({
          loaded: [[key, value]],
          maxQueuedMessages: 10,
          maxBytes: 1_000_000,
          save: ignore,
          saveNew: ignore,
          forget: ignore,
          onDropped: ignore,
        });
        const stream: unknown = Reflect.apply(
          Reflect.get(levelPersistence(sessions.db), 'outgoingStream'),
          levelPersistence(sessions.db),
          [{ id: 'a:b' }],
        );
        const read: unknown[] = [];
        for await (const packet of stream as AsyncIterable<unknown>) read.push(packet);
        expect(read).toEqual([
          expect.objectContaining({
            ...waiting,
            cmd: 'publish',
            brokerId: '000000001',
            brokerCounter: number,
            dup: false,
          }),
        ]);
      }),
      { numRuns: 100 },
    ));

  it('keeps only its packet id when the client has it but for the PUBREL', () => {
    const value = encodeReleased(waitingKey('a', '000000001', 7), 4_711);
    expect(decodeWaiting(value)).toMatchObject({ stage: 'pubrel', messageId: 4_711 });
  });

  it('that is damaged is told, and never an error', () =>
    fc.assert(
      fc.property(message, fc.nat(), fc.nat({ max: 255 }), fc.nat(), (waiting, at, byte, length) => {
        const value = encodeWaiting(waitingKey('a', '000000001', 1), waiting);
        value[at % value.length] = byte;
        decodeWaiting(value);
        decodeWaiting(value.subarray(0, length % value.length));
      }),
    ));
});
