import {
  type Act,
  AppError,
  type Cause,
  type InstanceDescription,
  isChange,
  type Plan,
  reservedTags,
} from '@infrakit/core';
import { type Clock, defaultRuleSettings, type Rule, type RuleSettings, type Source } from '@infrakit/runtime';
import type { CallContext, Flavor, Instance, Log } from '@infrakit/spi';
import { targetOf } from './group-config.ts';
import type { GroupState, InForce, SlotItem } from './group-state.ts';
import { createMember, destroyMember, labelMember, type MemberLifeDeps } from './member-life.ts';
import { bindGroup } from './slot-binding.ts';

/** What a rule of a group is made of. */
export interface GroupRuleDeps {
  readonly state: GroupState;
  readonly inForce: InForce;
  readonly instance: Instance;
  readonly flavor: Flavor;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: string | undefined;
  readonly owner: string;
  readonly ruleName: string;
  readonly revision: number;
}

const settings: Omit<RuleSettings, 'order'> = {
  ...defaultRuleSettings,
  onChange: 'replace',
};
const describeMs = 10_000;

const none: Source<SlotItem> = { kind: 'known', items: [] };

/** Why the members that a plan takes away leave, by id. */
const causesOf = (plan: Plan, condemned: ReadonlySet<string>): ReadonlyMap<string, Cause> => {
  const causes = new Map<string, Cause>();
  const causeOf = (act: Extract<Act, { kind: 'destroy' }>): Cause => {
    const { explained } = act;
    if (explained?.by === 'departure') return explained.cause;
    if (explained?.by === 'empty' && explained.reason === 'destroyed') return 'destroy';
    return condemned.has(act.id) ? 'request' : 'scale';
  };
  for (const act of plan.acts) {
    if (act.kind === 'destroy') causes.set(act.id, causeOf(act));
    else if (act.kind === 'replace') causes.set(act.id, 'update');
  }
  return causes;
};

/** All members of the group in the sink; the very same list while the sink says so. */
const sinkReader = ({ instance, state }: Pick<GroupRuleDeps, 'instance' | 'state'>) => {
  let last: { readonly digest: string; readonly instances: readonly InstanceDescription[] } | undefined;
  const isOurs = ({ Tags }: InstanceDescription): boolean => Tags?.[reservedTags.group] === state.name;
  return {
    last: () => last?.instances ?? [],
    read: async (ctx: CallContext): Promise<readonly InstanceDescription[]> => {
      const known = last === undefined ? {} : { digest: last.digest };
      const answer = await instance.describe(
        { tags: { [reservedTags.group]: state.name }, properties: false, ...known },
        { ...ctx, timeoutMs: describeMs },
      );
      if (answer.kind === 'instances') {
        const { digest, instances } = answer;
        // A plugin that leaves out a part of the query must not hand us what is somebody else's (GP-S3).
        last = { digest, instances: instances.every(isOurs) ? instances : instances.filter(isOurs) };
      } else if (answer.digest !== last?.digest) {
        throw new AppError('RESULT_INVALID', 'describe answered unchanged to a digest that it was not sent');
      }
      return last?.instances ?? [];
    },
  };
};

/** A group as a rule of the loop: its slots are the source, its instance plugin is the sink (DESIGN §1). */
export const groupRule = (deps: GroupRuleDeps): Rule<SlotItem, InstanceDescription> => {
  const { state, inForce, self } = deps;
  const { config } = inForce;
  const sink = sinkReader(deps);
  const order = inForce.wanted.kind === 'size' ? 'adds-first' : 'removes-first';
  const life: MemberLifeDeps = { ...deps, graceMs: settings.graceMs };
  const condemned = (): ReadonlySet<string> => new Set(state.record()?.condemned ?? []);
  return {
    name: deps.ruleName,
    owner: deps.owner,
    revision: deps.revision,
    settings: { ...settings, order },
    readSource: async () =>
      state.inForce() === inForce ? state.source() : { ...none, target: targetOf(inForce.wanted) },
    readSink: sink.read,
    keys: (source, instances) =>
      bindGroup(source, instances, {
        config,
        wanted: inForce.wanted,
        roster: state.roster,
        condemned: condemned(),
        bindings: state.record()?.bindings ?? {},
        self,
        revision: state.membership.revision(),
      }),
    contentOf: () => config.hash,
    prepare: async (plan) => {
      const isActing = plan.acts.some(isChange);
      await state.observe(sink.last(), isActing ? causesOf(plan, condemned()) : new Map());
      state.pollHealth(deps.flavor, config.flavor.Properties ?? null);
    },
    create: (item, ctx) => createMember(item, life, ctx),
    label: (id, slot, ctx) => labelMember(id, slot, life, ctx),
    destroy: (id, reason, ctx) => destroyMember(id, reason, life, ctx),
  };
};
