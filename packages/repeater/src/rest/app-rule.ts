import { z } from 'zod';

/** One rule of the old application (GP §6.4): a topic of the source, and where it goes; an empty sink topic is the same one. */
export const AppRule = z.object({
  sourcetopic: z
    .string()
    .min(1)
    .meta({ description: 'a topic; ending in / all below it, . everything, or an MQTT filter' }),
  sinktopic: z
    .string()
    .default('')
    .meta({ description: 'empty or . keeps the topic, ending in / is put in front of it, else the one topic' }),
});
export type AppRule = z.infer<typeof AppRule>;

/** A rule, and how it fares. */
export const AppRuleState = z.object({
  sourcetopic: z.string(),
  sinktopic: z.string(),
  state: z.enum(['active', 'connecting', 'unhealthy', 'refused']),
  messages: z.number(),
  bytes: z.number(),
  dropped: z.number(),
  lagMs: z.number(),
  lastError: z.string(),
});
export type AppRuleState = z.infer<typeof AppRuleState>;

/** What became of a change: all of it, or nothing (GP-R6). */
export type AppChange =
  | { readonly kind: 'done'; readonly created: number }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] }
  | { readonly kind: 'conflict'; readonly topics: readonly string[] }
  | { readonly kind: 'missing'; readonly topics: readonly string[] };

/** The rules of one application, in the order they were added. */
export interface AppRules {
  readonly list: () => AppRuleState[] | Promise<AppRuleState[]>;
  /** Adds rules whose source topics are new. */
  readonly add: (rules: readonly AppRule[]) => Promise<AppChange>;
  /** Adds rules, and gives those that are there another sink topic; a rule that changes nothing is left alone. */
  readonly put: (rules: readonly AppRule[]) => Promise<AppChange>;
  readonly remove: (sourcetopics: readonly string[]) => Promise<AppChange>;
}
