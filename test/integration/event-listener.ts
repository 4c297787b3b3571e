import { type BusClient, connectMqtt, openBusClient } from '@infrakit/bus';
import type { BrokerAddress, Event } from '@infrakit/core';
import { type EventMessage, realAfter } from '@infrakit/spi';
import { eventually } from '../e2e/operator.ts';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

let clients = 0;

/** Comes to the bus as the command line does. */
export const openListener = async (address: BrokerAddress): Promise<BusClient> => {
  clients += 1;
  let ids = 0;
  const opened = openBusClient({
    connection: await connectMqtt(
      { address, clientId: `listener-${clients}`, version: '3.1.1' },
      { after: realAfter, random: Math.random, log },
    ),
    host: 'test',
    clock: { nowMs: Date.now, after: realAfter },
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    log,
  });
  await opened.registry.ready(5_000);
  return opened;
};

/** Events of a plugin as they come. */
export interface Followed {
  readonly messages: readonly EventMessage[];
  readonly events: () => Event[];
  /** Resolves when so many have come. */
  readonly came: (count: number) => Promise<Event[]>;
  readonly stop: () => void;
}

/** Follows a filter of a plugin, as `tail` does. */
export const follow = ({ subscribe }: BusClient, plugin: string, topic: string): Followed => {
  const messages: EventMessage[] = [];
  const subscription = subscribe(plugin, topic).subscribe((message) => messages.push(message));
  const events = (): Event[] => messages.flatMap((message) => (message.kind === 'event' ? [message.event] : []));
  return {
    messages,
    events,
    came: (count) =>
      eventually(`${count} events of ${plugin} ${topic}`, 30_000, async () =>
        events().length >= count ? events() : undefined,
      ),
    stop: () => subscription.unsubscribe(),
  };
};
