import { malformed } from './frame-cutter.ts';
import { readLength, writeLength } from './mqtt-frame.ts';

/** The user property that says through how many repeaters a message has come. */
const hopsName = 'infrakit-hops';

/** Properties as they go on, and through how many repeaters their message has come by now. */
export interface PassedOn {
  /** With their length in front. */
  readonly bytes: Buffer;
  readonly hops: number;
}

/** Identifiers of properties [MQTT5-2.2.2.2]. */
const [payloadFormat, contentTypeId, subscriptionId, topicAlias, userProperty] = [0x01, 0x03, 0x0b, 0x23, 0x26];
/** How long the values of properties of a PUBLISH are; `text`: a length of two bytes in front. */
const kinds: Readonly<Record<number, number | 'text' | 'pair' | 'varint'>> = {
  [payloadFormat]: 1,
  2: 4,
  [contentTypeId]: 'text',
  8: 'text',
  9: 'text',
  [subscriptionId]: 'varint',
  [topicAlias]: 2,
  [userProperty]: 'pair',
};
/** They belong to one connection. */
const ownToConnection: ReadonlySet<number> = new Set([subscriptionId, topicAlias]);
const hopsKey = Buffer.from(hopsName);

const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
};

const withLength = (parts: readonly Buffer[]): Buffer => {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = Buffer.alloc(4);
  return Buffer.concat([head.subarray(0, writeLength(head, 0, length)), ...parts]);
};

const hopsProperty = (hops: number): Buffer =>
  Buffer.concat([Buffer.from([userProperty]), text(hopsName), text(`${hops}`)]);

const contentTypeProperty = (type: string): Buffer => Buffer.concat([Buffer.from([contentTypeId]), text(type)]);

/** Of a message without properties, which is what most are. */
const firstHop: PassedOn = { bytes: withLength([hopsProperty(1)]), hops: 1 };
/** Properties that say nothing. */
export const noProperties = Buffer.from([0]);
const noHop: PassedOn = { bytes: noProperties, hops: 0 };

/** Where a text that begins at `at` ends. */
const textEnd = (buffer: Buffer, at: number, end: number): number => {
  const behind = at + 2 <= end ? at + 2 + buffer.readUInt16BE(at) : end + 1;
  if (behind > end) throw malformed('a property that is longer than its packet');
  return behind;
};

/** Where the value of a property of a PUBLISH ends. Broken ones are errors (`BUS_REFUSED`). */
export const propertyEnd = (id: number, buffer: Buffer, at: number, end: number): number => {
  const kind = kinds[id];
  if (kind === undefined) throw malformed('a property that a PUBLISH does not have [MQTT5-2.2.2.2]');
  if (kind === 'text') return textEnd(buffer, at, end);
  if (kind === 'pair') return textEnd(buffer, textEnd(buffer, at, end), end);
  const behind = kind === 'varint' ? readLength(buffer, at, end).behind : at + kind;
  if (behind > end) throw malformed('a property that is longer than its packet');
  return behind;
};

/** The hops that a user property tells; null for another one. What is no number tells none. */
const hopsOf = (buffer: Buffer, at: number, end: number): number | null => {
  const keyEnd = textEnd(buffer, at, end);
  if (keyEnd - at - 2 !== hopsKey.length || !buffer.subarray(at + 2, keyEnd).equals(hopsKey)) return null;
  const value = buffer.toString('latin1', keyEnd + 2, end);
  return /^\d{1,9}$/.test(value) ? Number(value) : 0;
};

/**
 * The properties that stand between two places, as they go on to the next broker: all but those that belong to one connection, the
 * hops `hop` more, and another content type where the payload is in another form. Broken ones are errors (`BUS_REFUSED`).
 */
export const passedOn = (
  buffer: Buffer,
  from: number,
  end: number,
  { hop, contentType }: { readonly hop: 0 | 1; readonly contentType?: string | undefined },
): PassedOn => {
  if (from === end && contentType === undefined) return hop === 0 ? noHop : firstHop;
  const kept: Buffer[] = [];
  let hops = 0;
  let at = from;
  while (at < end) {
    const id = buffer[at] ?? 0;
    const behind = propertyEnd(id, buffer, at + 1, end);
    const told = id === userProperty ? hopsOf(buffer, at + 1, behind) : null;
    const isReplaced = contentType !== undefined && (id === contentTypeId || id === payloadFormat);
    if (told !== null) hops = Math.max(hops, told);
    else if (!ownToConnection.has(id) && !isReplaced) kept.push(buffer.subarray(at, behind));
    at = behind;
  }
  if (contentType !== undefined) kept.push(contentTypeProperty(contentType));
  const come = hops + hop;
  return { bytes: withLength(come === 0 ? kept : [...kept, hopsProperty(come)]), hops: come };
};
