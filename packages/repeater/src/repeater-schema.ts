import { Duration } from '@infrakit/core';
import { z } from 'zod';
import { pluginOf } from './link/endpoint.ts';
import { type Mirror, MirrorBuffer, MirrorSink, MirrorSource, mirrorWords } from './mirror/mirror.ts';

const Rule = z.strictObject({ ...mirrorWords, QoS: mirrorWords.QoS.optional() });
type Rule = z.infer<typeof Rule>;

/** The properties of an event-repeater spec (GP §6.5, issue 6). */
export const RepeaterProperties = z.strictObject({
  Source: MirrorSource,
  /** Its QoS is that of rules without one. */
  Sink: z.strictObject({ ...MirrorSink.shape, QoS: mirrorWords.QoS.default(1) }),
  Rules: z.array(Rule).default([]),
  /** Everything that no rule is for, under its own topics. */
  AllowAll: z.boolean().default(false),
  Buffer: MirrorBuffer.optional(),
});
export type RepeaterProperties = z.infer<typeof RepeaterProperties>;

/** How a repeater is started. */
export const RepeaterOptions = z.strictObject({
  /** Between two probes of each broker. */
  ProbeInterval: Duration.refine((ms) => ms > 0, 'ProbeInterval must be greater than 0').default(10_000),
  /** The largest message that is taken, in bytes. */
  MaxMessage: z
    .number()
    .int()
    .min(1_024)
    .max(268_435_455)
    .default(16 * 1024 * 1024),
  /** Through how many repeaters a message may come, where MQTT 5 tells: one that comes again and again dies out. */
  MaxHops: z.number().int().min(1).max(255).default(8),
});
export type RepeaterOptions = z.infer<typeof RepeaterOptions>;

/** A rule of a spec as the mirror it asks for. */
export interface RuleItem {
  /** What it is known by, and the only rule so in its spec: the source topic, after its direction unless that is `out`. */
  readonly id: string;
  readonly mirror: Mirror;
}

const idOf = ({ Direction, sourcetopic }: Rule): string =>
  Direction === 'out' ? sourcetopic : `${Direction} ${sourcetopic}`;

/** The rules of a spec in the order in which they are asked; the one for everything comes last. */
export const ruleItems = (properties: RepeaterProperties): RuleItem[] => {
  const {
    Source,
    Sink: { QoS, ...Sink },
    Rules,
    AllowAll,
    Buffer,
  } = properties;
  const common = { Source, Sink, ...(Buffer !== undefined && { Buffer }) };
  const items = Rules.map(
    (rule): RuleItem => ({ id: idOf(rule), mirror: { ...rule, QoS: rule.QoS ?? QoS, ...common } }),
  );
  const all = pluginOf(Source) === undefined ? '#' : '.';
  if (!AllowAll || items.some(({ id }) => id === all)) return items;
  const everything = Rule.parse({ sourcetopic: all });
  return [...items, { id: all, mirror: { ...everything, QoS, ...common } }];
};
