import { AppError, checkFilter, checkTopic } from '@infrakit/core';

const passes = (check: () => void): boolean => {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
};

/** Whether a topic may be published to: legal in MQTT, and not too long for this broker. */
export const isLegalTopic = (topic: string, maxBytes: number): boolean =>
  Buffer.byteLength(topic) <= maxBytes && passes(() => checkTopic(topic));

/** Whether a filter may be subscribed to: legal in MQTT, and not too long for this broker. */
export const isLegalFilter = (filter: string, maxBytes: number): boolean =>
  Buffer.byteLength(filter) <= maxBytes && passes(() => checkFilter(filter));
