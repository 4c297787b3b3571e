import type { AedesOptions, PublishPacket } from 'aedes';
import type { ClientBook, ClientState } from './broker-client-state.ts';
import { isLegalFilter, isLegalTopic } from './broker-legal.ts';
import { isGuest } from './broker-rights.ts';

/** The answers that aedes asks for, and that for a publish of this process itself. */
export interface BrokerTraffic
  extends Pick<AedesOptions, 'authorizePublish' | 'authorizeSubscribe' | 'authorizeForward'> {
  readonly refusal: (packet: PublishPacket) => Error | undefined;
}

/** What passes: the answers to each publish, each filter, and each message on its way to a client. */
export const brokerTraffic = (
  book: ClientBook,
  /** Whether a retained message with a payload of so many bytes can be kept. */
  hasRoomFor: (topic: string, payloadBytes: number) => boolean,
): BrokerTraffic => {
  const { limits, counts } = book;
  /** Without a state: this process itself, which has every right. */
  const refusal = (packet: PublishPacket, state?: ClientState, clientId?: string): Error | undefined => {
    const { topic, retain } = packet;
    const facts = { clientId, topic: topic.slice(0, 200) };
    counts.publishesReceived += 1;
    if (!isLegalTopic(topic, limits.topicBytes)) return book.refuse('topic', 'the topic is not legal', facts);
    if (state !== undefined && !(state.principal && book.rightsOf(state.principal).mayPublish(topic))) {
      counts.publishesDropped += 1;
      return book.refuse('publish-right', 'not authorised to publish', facts);
    }
    if (retain && !hasRoomFor(topic, Buffer.byteLength(packet.payload))) {
      counts.publishesDropped += 1;
      return book.refuse('retained-full', 'too much is retained', facts);
    }
    return undefined;
  };
  return {
    refusal,
    // No client: a will of the last run that aedes still owes.
    authorizePublish: (client, packet, done) =>
      done(refusal(packet, client === null ? undefined : book.find(client), client?.id)),

    authorizeSubscribe: (client, subscription, done) => {
      const state = book.find(client);
      const { topic } = subscription;
      const facts = { clientId: client.id, filter: topic.slice(0, 200) };
      const isNew = state !== undefined && !state.filters.has(topic);
      if (!isLegalFilter(topic, limits.topicBytes)) book.count('topic', facts);
      else if (isNew && state.filters.size >= limits.subscriptions) book.count('subscriptions', facts);
      else {
        if (isNew) {
          state.filters.add(topic);
          counts.subscriptions += 1;
        }
        return done(null, subscription);
      }
      done(null, null);
    },

    authorizeForward: (client, packet) => {
      const state = book.find(client);
      if (state?.principal === undefined || !book.rightsOf(state.principal).mayReceive(packet.topic)) return null;
      const bytes = packet.topic.length + packet.payload.length;
      // Retained messages come one by one, each when the last is written; live ones wait for nobody.
      if (isGuest(state.principal) && !packet.retain) {
        const waiting = state.stream.writableLength + state.promisedBytes;
        if (waiting + bytes > limits.guestBacklogBytes / 2 && waiting > 0) {
          counts.publishesDropped += 1;
          return null;
        }
        if (state.promisedBytes === 0) {
          setImmediate(() => {
            state.promisedBytes = 0;
          });
        }
        state.promisedBytes += bytes;
      }
      counts.publishesSent += 1;
      return packet;
    },
  };
};
