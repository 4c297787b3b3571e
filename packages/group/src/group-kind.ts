import { AppError, type InstanceDescription, objectName, parsePluginName, type Spec } from '@infrakit/core';
import type { Accepted, Clock, Look, RuleKind } from '@infrakit/runtime';
import {
  type CallContext,
  type Events,
  flavorInterface,
  instanceInterface,
  type Log,
  type Plugins,
} from '@infrakit/spi';
import { map, merge, skip } from 'rxjs';
import { askPlugins, checkChange } from './group-accept.ts';
import { groupConfig, targetOf } from './group-config.ts';
import { groupRule } from './group-rule.ts';
import type { GroupState, InForce, SlotItem } from './group-state.ts';
import { describeGroup, groupProgress, publishedState } from './group-status.ts';
import { planText } from './plan-text.ts';

/** What the kind of groups is made of. */
export interface GroupKindDeps {
  /** The controller's own lookup name. */
  readonly name: string;
  readonly plugins: Plugins;
  readonly events: Pick<Events, 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: string | undefined;
  readonly pollIntervalMs: number;
  /** The state of a group, or a new one that nothing is written of yet. */
  readonly stateOf: (name: string) => GroupState;
  /** The state is in use from now on. */
  readonly keep: (state: GroupState) => void;
}

/** From a change to the cycle it asks for: short, since most changes are the group's own. */
const timing = { quietMs: 50, maxWaitMs: 500 };

/** The error for a group that is not there (GP §1.5). */
export const groupNotFound = (name: string): AppError =>
  new AppError('GROUP_NOT_FOUND', `Group '${name}' is not being watched`, { facts: { group: name } });

interface Part {
  readonly state: GroupState;
  readonly inForce: InForce;
}

const textOf = (seen: Look<SlotItem>, { state, inForce }: Part): string => {
  const { observed } = seen.keyed;
  if (seen.source.kind === 'known' && seen.source.phase === 'destroyed') {
    return `Destroying ${observed.length} instances`;
  }
  const members = observed.filter(({ ownership }) => ownership.kind !== 'foreign');
  const outdated = members.filter(({ content }) => content !== inForce.config.hash).length;
  const known = state.phase() === 'destroying' ? null : state.inForce();
  return planText({
    before: known === null ? null : targetOf(known.wanted),
    after: targetOf(inForce.wanted),
    current: members.length - outdated,
    outdated,
  });
};

/** Groups as a kind of rule (GP §1, DESIGN §1). */
export const groupKind = (deps: GroupKindDeps): RuleKind<SlotItem, InstanceDescription> => {
  const { plugins, events, clock, log, self } = deps;
  const parts = new WeakMap<Accepted<SlotItem, InstanceDescription>, Part>();
  const partOf = (accepted: Accepted<SlotItem, InstanceDescription>): Part => {
    const part = parts.get(accepted);
    if (part === undefined) throw new AppError('INTERNAL', `${accepted.rule.name} was not accepted as a group`);
    return part;
  };

  const accept = async (spec: Spec, revision: number, owner: string, ctx: CallContext) => {
    const name = objectName(deps.name, spec.metadata.name);
    const config = groupConfig(name, spec.properties);
    const state = deps.stateOf(name);
    const record = state.record();
    checkChange(name, config, record);
    // What was accepted before a restart needs no plugin to be there first: a name that nothing answers to is waited for.
    if (record?.phase !== 'live' || record.revision !== revision) await askPlugins(config, plugins, ctx);
    const inForce: InForce = { config, wanted: config.wanted };
    const rule = groupRule({
      state,
      inForce,
      instance: plugins.resolve(instanceInterface, config.instance.Plugin),
      flavor: plugins.resolve(flavorInterface, config.flavor.Plugin),
      clock,
      log,
      self,
      owner,
      ruleName: `${deps.name}/${name}`,
      revision,
    });
    const returns = merge(
      plugins.watch(config.instance.Plugin).pipe(skip(1)),
      plugins.watch(config.flavor.Plugin).pipe(skip(1)),
    );
    // What the instance plugin says of its instances, such as that one died, is looked at without waiting for a poll.
    const { lookup, type = '' } = parsePluginName(config.instance.Plugin);
    const told = events.subscribe(lookup, type === '' ? '#' : `${type}/#`);
    const accepted: Accepted<SlotItem, InstanceDescription> = {
      rule,
      timing: { ...timing, syncIntervalMs: deps.pollIntervalMs },
      triggers: merge(state.nudges, merge(returns, told).pipe(map(() => undefined))),
      sourceHash: 'slots',
      warnings: [],
      onDestroy: 'empty',
      committing: () => state.commit(spec, revision),
      begun: (phase) => {
        deps.keep(state);
        state.begin(inForce, phase);
      },
      forgetting: async () => {
        await state.change((now) => ({ ...now, phase: 'destroyed', condemned: [], leaving: [], bindings: {} }));
        state.end();
      },
      seen: state.seen,
    };
    parts.set(accepted, { state, inForce });
    return accepted;
  };

  return {
    kind: 'group',
    notFound: groupNotFound,
    accept,
    planLines: (_plan, seen, accepted) => [textOf(seen, partOf(accepted))],
    stateOf: (_outcome, accepted) => {
      const { state, inForce } = partOf(accepted);
      return describeGroup(state, inForce, self);
    },
    progress: (accepted) => {
      const { state, inForce } = partOf(accepted);
      return groupProgress(state, inForce, self);
    },
    published: (told, accepted) => {
      const { state, inForce } = partOf(accepted);
      return publishedState(told, state, inForce, self);
    },
  };
};
