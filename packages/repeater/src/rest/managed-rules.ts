import { AppError, type Spec, toAppError } from '@infrakit/core';
import { z } from 'zod';
import { RepeaterProperties } from '../repeater-schema.ts';
import type { AppChange, AppRule, AppRuleState, AppRules } from './app-rule.ts';

/** A spec that a manager keeps, as far as its rules go. */
export interface ManagedSpec {
  readonly read: () => Promise<Spec>;
  readonly commit: (spec: Spec) => Promise<void>;
  /** How its rules fare: the `state` of the object. */
  readonly state: () => Promise<unknown>;
}

const Row = z.object({
  Key: z.string(),
  State: z.enum(['pending', 'active', 'connecting', 'unhealthy', 'refused', 'error']),
  Data: z.object({
    messages: z.number(),
    bytes: z.number(),
    dropped: z.number(),
    lagMs: z.number(),
    error: z.string().optional(),
  }),
});
type Row = z.infer<typeof Row>;

/** The rule of the old application for everything that no other one wants: `AllowAll` of a spec. */
const everything = '.';
const isEverything = ({ sourcetopic, sinktopic }: AppRule): boolean =>
  sourcetopic === everything && (sinktopic === '' || sinktopic === everything);

type SpecRule = RepeaterProperties['Rules'][number];

/** Rules that go the other way too are none of the old application's. */
const isOurs = ({ Direction }: SpecRule): boolean => Direction === 'out';

const stateOf = ({ sourcetopic, sinktopic }: AppRule, row: Row | undefined): AppRuleState => {
  const { messages = 0, bytes = 0, dropped = 0, lagMs = 0, error: lastError = '' } = row?.Data ?? {};
  const state = row === undefined || row.State === 'pending' || row.State === 'error' ? 'connecting' : row.State;
  return { sourcetopic, sinktopic, state, messages, bytes, dropped, lagMs, lastError };
};

/**
 * The rules of a spec that a manager keeps, as the old application has them (GP-R14): a change is a commit of the spec with other
 * rules, so that the manager checks it as a whole, keeps it, and puts it in force. Words of a rule that the old application does
 * not know stay as they are.
 */
export const managedRules = ({ read, commit, state }: ManagedSpec): AppRules => {
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const result = turn.then(change);
    turn = result.catch(() => undefined);
    return result;
  };

  const open = async () => {
    const spec = await read();
    const properties = RepeaterProperties.parse(spec.properties);
    const rules: AppRule[] = properties.Rules.filter(isOurs).map(({ sourcetopic, sinktopic }) => ({
      sourcetopic,
      sinktopic,
    }));
    if (properties.AllowAll) rules.push({ sourcetopic: everything, sinktopic: everything });
    return { spec, properties, rules };
  };

  /** The spec with these rules in the place of its own; it stays as it was written but for them. */
  const become = async (
    { spec, properties }: Awaited<ReturnType<typeof open>>,
    rules: readonly AppRule[],
    created: number,
  ): Promise<AppChange> => {
    const before = new Map(properties.Rules.filter(isOurs).map((rule) => [rule.sourcetopic, rule]));
    const Rules = [
      ...properties.Rules.filter((rule) => !isOurs(rule)),
      ...rules.filter((rule) => !isEverything(rule)).map((rule) => ({ ...before.get(rule.sourcetopic), ...rule })),
    ];
    const AllowAll = rules.some(isEverything);
    const given = spec.properties as Readonly<Record<string, unknown>>;
    try {
      await commit({ ...spec, properties: { ...given, Rules, AllowAll } as Spec['properties'] });
      return { kind: 'done', created };
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code !== 'SPEC_INVALID') throw error;
      return { kind: 'invalid', faults: error.message.split('\n') };
    }
  };

  const upsert = async (opened: Awaited<ReturnType<typeof open>>, rules: readonly AppRule[]): Promise<AppChange> => {
    const given = rules.map(({ sourcetopic }) => sourcetopic);
    const twice = given.filter((topic, at) => given.indexOf(topic) !== at);
    if (twice.length > 0) return { kind: 'invalid', faults: twice.map((topic) => `${topic} is there twice`) };
    const next = new Map(opened.rules.map((rule) => [rule.sourcetopic, rule]));
    for (const rule of rules) next.set(rule.sourcetopic, rule);
    const created = next.size - opened.rules.length;
    return become(opened, [...next.values()], created);
  };

  return {
    list: async () => {
      const [{ rules, properties }, found] = await Promise.all([open(), state()]);
      const rows = z.array(Row).safeParse(found ?? []);
      if (!rows.success) throw new AppError('RESULT_INVALID', 'the state of the repeater is no list of rules');
      const all = typeof properties.Source === 'string' ? everything : '#';
      const byKey = new Map(rows.data.map((row) => [row.Key, row]));
      return rules.map((rule) => stateOf(rule, byKey.get(isEverything(rule) ? all : rule.sourcetopic)));
    },
    add: (rules) =>
      inTurn(async () => {
        const opened = await open();
        const there = new Set(opened.rules.map(({ sourcetopic }) => sourcetopic));
        const topics = rules.map(({ sourcetopic }) => sourcetopic).filter((topic) => there.has(topic));
        return topics.length > 0 ? { kind: 'conflict', topics } : upsert(opened, rules);
      }),
    put: (rules) => inTurn(async () => upsert(await open(), rules)),
    remove: (topics) =>
      inTurn(async () => {
        const opened = await open();
        const there = new Set(opened.rules.map(({ sourcetopic }) => sourcetopic));
        const missing = topics.filter((topic) => !there.has(topic));
        if (missing.length > 0) return { kind: 'missing', topics: missing };
        return become(
          opened,
          opened.rules.filter(({ sourcetopic }) => !topics.includes(sourcetopic)),
          0,
        );
      }),
  };
};
