import type { EventSequence } from '@infrakit/core';

/** Topics that are remembered; beyond it the one that was silent for longest is forgotten. */
const maxTopics = 10_000;

const remember = <T>(map: Map<string, T>, key: string, value: T): void => {
  map.delete(key);
  map.set(key, value);
  if (map.size <= maxTopics) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
};

/** Numbers events by topic. A topic that was forgotten begins anew under a nonce of its own, which others see as a gap. */
export const eventNumbers = (incarnation: string): ((topic: string) => EventSequence) => {
  const last = new Map<string, EventSequence>();
  let begun = 0;
  return (topic) => {
    const before = last.get(topic);
    if (before === undefined) begun += 1;
    const { Nonce, Seq } = before ?? { Nonce: `${incarnation}.${begun}`, Seq: 0 };
    const next = { Nonce, Seq: Seq + 1 };
    remember(last, topic, next);
    return next;
  };
};

/** What a number says to who has seen the ones before. */
export type Sighting =
  | { readonly kind: 'next' }
  | { readonly kind: 'seen' }
  | { readonly kind: 'gap'; readonly reason: string };

/** Finds what is missing between the events of each topic. The first of a topic, and one without a number, is never a gap. */
export const gapFinder = (): ((topic: string, sequence: Partial<EventSequence>) => Sighting) => {
  const last = new Map<string, EventSequence>();
  return (topic, { Nonce, Seq }) => {
    if (Nonce === undefined || Seq === undefined) return { kind: 'next' };
    const before = last.get(topic);
    // MQTT keeps the order within a topic: a lower number is one that came again.
    if (before?.Nonce === Nonce && Seq <= before.Seq) return { kind: 'seen' };
    remember(last, topic, { Nonce, Seq });
    if (before === undefined) return { kind: 'next' };
    if (before.Nonce !== Nonce) return { kind: 'gap', reason: 'another incarnation publishes now' };
    const missing = Seq - before.Seq - 1;
    return missing === 0 ? { kind: 'next' } : { kind: 'gap', reason: `${missing} events are missing` };
  };
};
