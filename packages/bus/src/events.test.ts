import { topicsUnder } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { describe, expect, it, vi } from 'vitest';
import { badMessages } from './bad-messages.ts';
import type { Connection } from './connection.ts';
import { eventPublisher, eventSubscriber } from './events.ts';
import { memoryBroker } from './memory-broker.ts';

const quiet = (): void => {};
const warnings: string[] = [];
const log = { debug: quiet, info: quiet, error: quiet, warn: (_: unknown, message: string) => warnings.push(message) };
const topics = topicsUnder('infrakit');
const event = (ID: string) => ({ Topic: 'a', ID, Message: '', Timestamp: 't' });
const common = { topics, plugin: 'p', incarnation: 'n1.1', nowMs: () => 0, log };

describe('eventPublisher (Events port)', () => {
  it('a queue that is full drops the oldest, counts, warns once, and never waits', async () => {
    warnings.length = 0;
    let release: () => void = quiet;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sent: string[] = [];
    const connection = {
      publish: async (_: string, payload: string) => {
        sent.push(JSON.parse(payload).ID);
        await held;
      },
    } as unknown as Connection;
    const { publish, dropped } = eventPublisher({ ...common, connection, qos: 1 });
    for (let n = 0; n < 1_300; n += 1) publish(event(String(n)));
    expect(dropped()).toBe(200);
    expect(warnings).toEqual(['events dropped']);
    release();
    await vi.waitFor(() => expect(sent).toHaveLength(1_100));
    expect([sent[99], sent[100], sent.at(-1)]).toEqual(['99', '300', '1299']);
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
