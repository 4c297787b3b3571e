import { topicTree } from '@infrakit/runtime';
import type { EventSource } from '@infrakit/spi';
import { eventSuffixes } from './enrollment-events.ts';

/** Which topics there are events on: those of each rule (EI §5.2, §5.5). */
export const enrollmentEventSource = (rules: () => readonly string[]): EventSource =>
  topicTree(() => rules().flatMap((rule) => eventSuffixes.map((suffix) => `${rule}/${suffix}`)));
