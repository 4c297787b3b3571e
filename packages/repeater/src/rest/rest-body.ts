import { z } from 'zod';
import { AppRule } from './app-rule.ts';

/** The body of every request about the collection (GP §6.4). */
export const RuleList = z.array(AppRule).min(1).max(10_000);

/** The body of a request about one topic. */
export const RuleSink = AppRule.omit({ sourcetopic: true });

/** What is answered when something is wrong: a sentence, and the topics that it is about. */
export const RestError = z.object({ error: z.string(), topics: z.array(z.string()).optional() });
export type RestError = z.infer<typeof RestError>;

const lowered = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toLowerCase(), each]))
    : value;

/** A body with its keys in lower case: old clients write them as they like (GP §6.4). */
export const withLowerKeys = (body: unknown): unknown => (Array.isArray(body) ? body.map(lowered) : lowered(body));
