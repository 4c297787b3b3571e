import { describe, expect, it } from 'vitest';
import { Event } from './event.ts';

const tick = {
  Topic: 'streams/sec/1',
  Type: 'time',
  ID: '1sec',
  Message: '',
  Timestamp: '2018-11-22T18:20:16.123456789Z',
  Data: 1_000_000_000,
};

describe('an event (GP §3.1, EI §5.1)', () => {
  it.each([
    tick,
    { Topic: 'a', ID: 'b', Message: 'for people', Timestamp: tick.Timestamp },
    { Topic: 'a', ID: 'b', Message: '', Timestamp: 'x', Received: 'y', Data: { deep: [null, 1.5] }, Error: 'it broke' },
    { ...tick, Data: null },
  ])('encoded, decoded and encoded again has the same bytes', (event) => {
    const text = JSON.stringify(event);
    expect(JSON.stringify(Event.parse(JSON.parse(text)))).toBe(text);
  });

  it('EI-V2: Received is left out until somebody received it, and taken as it is, the year 1 of old too', () => {
    expect(Event.parse(tick)).not.toHaveProperty('Received');
    expect(Event.parse({ ...tick, Received: '0001-01-01T00:00:00Z' }).Received).toBe('0001-01-01T00:00:00Z');
  });

  it('GP-E8, EI-V3: Error is text and survives; the object that old publishers wrote is taken for none', () => {
    expect(Event.parse(JSON.parse(JSON.stringify({ ...tick, Error: 'it broke' }))).Error).toBe('it broke');
    expect(Event.parse({ ...tick, Error: {} }).Error).toBeUndefined();
    expect(JSON.stringify(Event.parse({ ...tick, Error: {} }))).toBe(JSON.stringify(tick));
    expect(Event.safeParse({ ...tick, Error: 7 }).success).toBe(false);
  });

  it('Message may be missing, as at the commit of the repeater', () => {
    const { Message: _, ...old } = tick;
    expect(Event.parse(old)).toEqual(tick);
  });

  it('a decoded event has nothing of another one', () => {
    const event = Event.parse({ ...tick, Error: 'old' });
    expect(Event.parse({ ...tick, ID: 'other' })).toEqual({ ...tick, ID: 'other' });
    expect(event.Error).toBe('old');
  });
});
