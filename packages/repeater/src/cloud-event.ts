import { Event } from '@infrakit/core';

/** The content type of an event in structured mode. */
export const cloudEventType = 'application/cloudevents+json; charset=utf-8';

const parsed = (payload: Buffer): unknown => {
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    return undefined;
  }
};

const sequenceOf = (value: object): string | undefined => {
  const { Nonce, Seq } = value as { readonly Nonce?: unknown; readonly Seq?: unknown };
  return typeof Nonce === 'string' && typeof Seq === 'number' ? `${Nonce}/${Seq}` : undefined;
};

/** RFC 3339, as the attribute `time` must be. */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));

/**
 * An event as a CloudEvent 1.0 in structured mode; null for a payload that is no event. Its id is that of the event among
 * those of its publisher, so that a message that is delivered twice shows.
 */
export const cloudEvent = (from: string): ((payload: Buffer) => Buffer | null) => {
  // A URI reference.
  const source = encodeURI(from);
  return (payload) => {
    const value = parsed(payload);
    const read = Event.loose().safeParse(value);
    if (!read.success || typeof value !== 'object' || value === null) return null;
    const { Topic, Type, ID, Message, Timestamp, Data, Error: error } = read.data;
    const event = {
      specversion: '1.0',
      id: sequenceOf(value) ?? `${ID}@${Timestamp}`,
      source,
      type: Type === undefined || Type === '' ? 'event' : Type,
      ...(Topic !== '' && { subject: Topic }),
      ...(isTime(Timestamp) && { time: Timestamp }),
      datacontenttype: 'application/json',
      ...(error !== undefined && { error }),
      ...(Message !== '' && { message: Message }),
      ...(Data !== undefined && { data: Data }),
    };
    return Buffer.from(JSON.stringify(event));
  };
};
