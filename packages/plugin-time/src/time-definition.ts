import type { Event } from '@infrakit/core';
import { type Clock, systemClock, topicTree } from '@infrakit/runtime';
import { type Events, eventInterface, metadataInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { nowMetadata } from './now-metadata.ts';
import { type Period, periods, streams } from './periods.ts';
import { ticker } from './ticker.ts';

const NoOptions = z.strictObject({});

const eventsOf = ({ leaf, id, ms }: Period, nowMs: number): Event[] =>
  streams.map(({ topic, type }) => ({
    Topic: `${topic}/${leaf}`,
    Type: type,
    ID: id,
    Message: '',
    Timestamp: new Date(nowMs).toISOString(),
    Data: ms * 1e6,
  }));

/** How long a period that nobody listens to is left alone: a process that has nothing to do sleeps. */
const restMs = 1_000;

/**
 * Publishes every tick that somebody may hear until the result is called. When is a matter of `clock`; `wallMs` is what a tick
 * says the time is, also after the time of the machine was set.
 */
export const publishTicks = (
  { clock, wallMs }: { readonly clock: Clock; readonly wallMs: () => number },
  events: Pick<Events, 'publish' | 'isHeard'>,
): (() => void) => {
  const isHeard = (topic: string): boolean => events.isHeard?.(topic) ?? true;
  const stops = periods.map((period) =>
    ticker(clock, {
      periodMs: period.ms,
      restMs,
      isHeard: () => streams.some(({ topic }) => isHeard(`${topic}/${period.leaf}`)),
      tick: () => {
        for (const event of eventsOf(period, wallMs())) events.publish(event);
      },
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
};

/** Timer events `streams/…` and `timer/…`, each also an object of its own, and the time of day as metadata (GP §3.4). */
export const timeDefinition: PluginDefinition<typeof NoOptions> = {
  kind: 'time',
  aliases: ['event-time'],
  summary: 'timer events and the time of day',
  isSingle: false,
  options: NoOptions,
  start: async ({ events }) => {
    const leaves = periods.map(({ leaf }) => leaf);
    const topics = streams.flatMap(({ topic }) => leaves.map((leaf) => `${topic}/${leaf}`));
    const objects = [
      pluginObject({ object: '', description: eventInterface, implementation: topicTree(() => topics) }),
      ...streams.map(({ topic }) =>
        pluginObject({ object: topic, description: eventInterface, implementation: topicTree(() => leaves) }),
      ),
      pluginObject({ object: '', description: metadataInterface, implementation: nowMetadata(Date.now) }),
    ];
    const stop = publishTicks({ clock: systemClock, wallMs: Date.now }, events);
    return { objects: () => objects, stop: async () => stop() };
  },
};
