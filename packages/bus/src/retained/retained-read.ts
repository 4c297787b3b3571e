import type { Topics } from '@infrakit/core';
import type { After, Log } from '@infrakit/spi';
import type { Connection, Message, TopicSubscription } from '../connection/connection.ts';

export interface RetainedReadOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly filters: readonly string[];
  readonly qos: 0 | 1;
  readonly after: After;
  readonly log: Log;
}

/** Who reads. Each round gives one `begin`, the messages, and one `end` unless the session ends first. */
export interface RetainedReader {
  /** All that is retained comes again from here on; what does not come until `end` is not there. */
  readonly begin: () => void;
  /** `message.retain` tells what was there from what is published now. */
  readonly message: (message: Message) => void;
  readonly end: () => void;
}

export interface RetainedRead {
  /** Reads all of it again, in the present session. */
  readonly again: () => void;
  readonly close: () => void;
}

/**
 * A broker does not say where the retained messages end. They follow SUBACK closely: after one more round trip and so
 * many moments of silence they are complete. Each moment ends with a round trip of its own, for the silence of a broker
 * that is busy says nothing. What comes later counts as well, as it comes.
 */
const silentMoments = 2;
const momentMs = 10;
/** Until a broker that did not answer is asked again. */
const retryMs = 1_000;

/** Reads what is retained under some filters, at the beginning of each session, and all that is published there since. */
export const readRetained = (options: RetainedReadOptions, reader: RetainedReader): RetainedRead => {
  const { connection, topics, filters, qos, after, log } = options;
  let round = 0;
  let isConnected = false;
  let isSilent = true;
  let open: readonly TopicSubscription[] = [];
  let stopTimer: () => void = () => {};

  const receive = (message: Message): void => {
    if (message.retain) isSilent = false;
    reader.message(message);
  };

  const subscribe = (): void => {
    const before = open;
    open = filters.map((filter) => connection.subscribe(filter, qos, receive));
    for (const { close } of before) close();
  };

  const roundTrip = async (): Promise<void> => {
    const subscription = connection.subscribe(topics.reply(connection.clientId), 1, () => undefined);
    await subscription.ready().finally(subscription.close);
  };

  const moment = (): Promise<void> =>
    new Promise((resolve) => {
      stopTimer = after(momentMs, resolve);
    });

  /** Whether so many silent moments passed one after the other in this round. */
  const silence = async (mine: number): Promise<boolean> => {
    for (let moments = 0; moments < silentMoments; moments += 1) {
      isSilent = true;
      await moment();
      if (mine !== round) return false;
      await roundTrip();
      if (mine !== round) return false;
      if (!isSilent) moments = -1;
    }
    return true;
  };

  const read = async (): Promise<void> => {
    round += 1;
    const mine = round;
    reader.begin();
    try {
      await Promise.all(open.map(({ ready }) => ready()));
      await roundTrip();
      if (mine === round && (await silence(mine))) reader.end();
    } catch (error) {
      if (mine !== round) return;
      log.debug({ err: error, filters }, 'retained messages not read');
      stopTimer = after(retryMs, again);
    }
  };

  const again = (): void => {
    if (!isConnected) return;
    stopTimer();
    subscribe();
    read();
  };

  subscribe();
  const status = connection.status.subscribe(({ kind }) => {
    isConnected = kind === 'connected';
    round += 1;
    stopTimer();
    if (isConnected) read();
  });
  return {
    again,
    close: () => {
      round += 1;
      isConnected = false;
      stopTimer();
      status.unsubscribe();
      for (const { close } of open) close();
    },
  };
};
