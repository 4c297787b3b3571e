import { propertyEnd } from '../wire/message-properties.ts';

/** Message Expiry Interval: a property of four bytes, in s [MQTT5-3.3.2.3.3]. */
const expiryId = 2;

/**
 * Properties of a message that has waited so long, with the rest of the time that its publisher gave it [MQTT5-3.3.2-6]; null when
 * that is over [MQTT5-3.3.2-5].
 */
export const stillValid = (properties: Buffer, waitedMs: number): Buffer | null => {
  for (let at = 0; at < properties.length; ) {
    const end = propertyEnd(properties[at] ?? 0, properties, at + 1, properties.length);
    if (properties[at] === expiryId) {
      const leftS = properties.readUInt32BE(at + 1) - Math.floor(Math.max(0, waitedMs) / 1_000);
      if (leftS <= 0) return null;
      const rest = Buffer.from(properties);
      rest.writeUInt32BE(leftS, at + 1);
      return rest;
    }
    at = end;
  }
  return properties;
};
