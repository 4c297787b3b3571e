import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cloudEvent } from './cloud-event.ts';

/** What CloudEvents 1.0.2 asks of an event in structured mode: its JSON format, and the rules of each attribute. */
const StructuredEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().min(1),
    source: z
      .string()
      .min(1)
      .regex(/^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/),
    type: z.string().min(1),
    subject: z.string().min(1).optional(),
    time: z.iso.datetime({ offset: true }).optional(),
    datacontenttype: z.string().min(1).optional(),
    dataschema: z.never().optional(),
    data: z.unknown().optional(),
  })
  // Names of attributes are lower-case letters and digits; values of extensions are no objects.
  .catchall(z.union([z.string(), z.boolean(), z.number().int()]))
  .refine((event) => Object.keys(event).every((name) => /^[a-z0-9]+$/.test(name)));

const form = cloudEvent('time');
const made = (event: unknown, make = form): Record<string, unknown> => {
  const bytes = make(Buffer.from(JSON.stringify(event)));
  return StructuredEvent.parse(JSON.parse(bytes?.toString() ?? 'null'));
};

const tick = {
  Topic: 'timer/sec/1',
  Type: 'timer',
  ID: '1sec',
  Message: '',
  Timestamp: '2018-11-22T18:20:16.123456789Z',
  Data: 1_000_000_000,
  Nonce: 'n1.4',
  Seq: 7,
};

describe('CloudEvents 1.0 in structured mode (issue 6)', () => {
  test('an event of ours', () => {
    expect(made(tick)).toEqual({
      specversion: '1.0',
      id: 'n1.4/7',
      source: 'time',
      type: 'timer',
      subject: 'timer/sec/1',
      time: '2018-11-22T18:20:16.123456789Z',
      datacontenttype: 'application/json',
      data: 1_000_000_000,
    });
  });

  test.each([
    ['no type', { Type: undefined }, { type: 'event' }],
    ['an empty type', { Type: '' }, { type: 'event' }],
    ['no number', { Nonce: undefined }, { id: '1sec@2018-11-22T18:20:16.123456789Z' }],
    ['an empty topic', { Topic: '' }, { subject: undefined }],
    ['a time that is none', { Timestamp: 'yesterday' }, { time: undefined }],
    ['no data', { Data: undefined }, { data: undefined }],
    ['data that is null', { Data: null }, { data: null }],
    ['a message', { Message: 'for people' }, { message: 'for people' }],
    ['an error', { Error: 'it broke' }, { error: 'it broke' }],
    ['fields of others', { More: { deep: true } }, { More: undefined }],
  ])('%s', (_, change, expected) => {
    expect(made({ ...tick, ...change })).toEqual({ ...made(tick), ...expected });
  });

  test.each(['mqtt://127.0.0.1:1883', 'group', 'a name/with a blank'])('%j is a source that URIs may be', (source) => {
    expect(made(tick, cloudEvent(source)).source).toBe(encodeURI(source));
  });

  test.each(['', 'no JSON', '[]', 'null', '7', '{}', '{"Topic":"a"}', '{"Topic":1,"ID":"a","Timestamp":"x"}'])(
    '%j is no event, and becomes none',
    (payload) => {
      expect(form(Buffer.from(payload))).toBeNull();
    },
  );

  test('two events never have one id', () => {
    const ids = [tick, { ...tick, Seq: 8 }, { ...tick, Nonce: 'n1.5' }].map((event) => made(event).id);
    expect(new Set(ids).size).toBe(3);
  });
});
