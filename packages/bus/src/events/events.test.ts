import { topicsUnder } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from '../connection/connection.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { badMessages } from './bad-messages.ts';
import { gapFinder } from './event-sequence.ts';
import { eventPublisher, eventSubscriber } from './events.ts';

const quiet = (): void => {};
const warnings: string[] = [];
const log = { debug: quiet, info: quiet, error: quiet, warn: (_: unknown, message: string) => warnings.push(message) };
const topics = topicsUnder('infrakit');
const event = (ID: string) => ({ Topic: 'a', ID, Message: '', Timestamp: 't' });
const common = { topics, plugin: 'p', incarnation: 'n1.1', nowMs: () => 0, log };

describe('eventPublisher (Events port)', () => {
  /** A connection that holds back what is published until it is released. */
  const holding = () => {
    let release: () => void = quiet;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sent: { readonly ID: string; readonly Nonce: string; readonly Seq: number }[] = [];
    const connection = {
      publish: async (_: string, payload: string) => {
        sent.push(JSON.parse(payload));
        await held;
      },
    } as unknown as Connection;
    return { connection, sent, release: () => release() };
  };

  it('a burst of 10,000 joins waits for the broker and loses nothing', async () => {
    const { connection, sent, release } = holding();
    const { publish, dropped } = eventPublisher({ ...common, connection, qos: 1 });
    for (let n = 0; n < 10_000; n += 1) publish({ ...event(String(n)), Data: { member: 'x'.repeat(700) } });
    release();
    await vi.waitFor(() => expect(sent).toHaveLength(10_000));
    expect(sent.map(({ Seq }) => Seq)).toEqual(Array.from({ length: 10_000 }, (_, n) => n + 1));
    expect(dropped()).toBe(0);
  });

  it('a queue that is full drops the oldest in one piece, counts, warns once, never waits, and leaves one gap', async () => {
    warnings.length = 0;
    const { connection, sent, release } = holding();
    const { publish, dropped } = eventPublisher({ ...common, connection, qos: 1 });
    const Data = 'x'.repeat(2 ** 20);
    for (let n = 0; n < 140; n += 1) publish({ ...event(String(n)), Data });
    expect(dropped()).toBeGreaterThan(0);
    expect(warnings).toEqual(['events dropped']);
    release();
    await vi.waitFor(() => expect(sent.length + dropped()).toBe(140));
    expect(sent.at(-1)?.ID).toBe('139');
    const see = gapFinder();
    const gaps = sent.map((sequence) => see('a', sequence)).filter(({ kind }) => kind === 'gap');
    expect(gaps).toEqual([{ kind: 'gap', reason: `${dropped()} events are missing` }]);
  });

  it('EI-V4: an event whose data is no JSON is published with an error instead of it, and the sender goes on', async () => {
    const sent: { readonly ID: string; readonly Error?: string; readonly Seq: number }[] = [];
    const connection = {
      publish: async (_: string, payload: string) => void sent.push(JSON.parse(payload)),
    } as unknown as Connection;
    const { publish, dropped } = eventPublisher({ ...common, connection, qos: 1 });
    const ring: { self?: unknown } = {};
    ring.self = ring;
    publish({ ...event('1'), Data: ring });
    publish({ ...event('2'), Data: 7n });
    publish({ ...event('3'), Data: 3 });
    await vi.waitFor(() => expect(sent).toHaveLength(3));
    expect(sent).toMatchObject([
      { ID: '1', Error: expect.stringContaining('its data is no JSON: '), Seq: 1 },
      { ID: '2', Error: expect.stringContaining('BigInt'), Seq: 2 },
      { ID: '3', Data: 3, Seq: 3 },
    ]);
    expect(dropped()).toBe(0);
  });

  it('without a connection events are dropped, and the next one is seen as a gap', async () => {
    const broker = memoryBroker({ after: realAfter, log });
    const connection = broker.connect({ clientId: 'c' });
    const { publish, dropped } = eventPublisher({ ...common, connection, qos: 1 });
    const subscribe = eventSubscriber({
      connection: broker.connect({ clientId: 's' }),
      topics,
      bad: badMessages({ log, nowMs: () => 0 }),
    });
    const got: string[] = [];
    subscribe('p', 'a').subscribe((message) => got.push(message.kind === 'event' ? message.event.ID : message.kind));
    publish(event('1'));
    await vi.waitFor(() => expect(got).toEqual(['1']));
    broker.sever('c');
    publish(event('2'));
    await vi.waitFor(() => expect(dropped()).toBe(1));
    await vi.waitFor(() => {
      publish(event('3'));
      expect(got.length).toBeGreaterThan(1);
    });
    expect(got.slice(0, 3)).toEqual(['1', 'gap', '3']);
  });

  it('timers may be published at QoS 0', async () => {
    const qos: number[] = [];
    const connection = {
      publish: async (_topic: string, _payload: string, how: { qos: number }) => void qos.push(how.qos),
    } as unknown as Connection;
    eventPublisher({ ...common, connection, qos: 0 }).publish(event('1'));
    expect(qos).toEqual([0]);
  });
});

describe('eventSubscriber (Events port)', () => {
  it('a filter that MQTT forbids is refused when it is asked for; the stream ends with the connection', async () => {
    const connection = memoryBroker({ after: realAfter, log }).connect({ clientId: 's' });
    const subscribe = eventSubscriber({ connection, topics, bad: badMessages({ log, nowMs: () => 0 }) });
    expect(() => subscribe('p', 'a/#/b')).toThrow(expect.objectContaining({ code: 'FILTER_INVALID' }));
    let isComplete = false;
    subscribe('p', 'a').subscribe({
      complete: () => {
        isComplete = true;
      },
    });
    await connection.close();
    expect(isComplete).toBe(true);
  });
});
