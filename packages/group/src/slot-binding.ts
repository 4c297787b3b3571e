import {
  bindLogicalIds,
  bindSlots,
  bootstrapHash,
  compareUtf8,
  type DesiredEntry,
  type Explanation,
  type InstanceDescription,
  type ObservedEntry,
  reservedTags,
  type SlotMember,
  type Tags,
} from '@infrakit/core';
import type { Keyed, Source } from '@infrakit/runtime';
import type { GroupConfig, Wanted } from './group-config.ts';
import type { Binding } from './group-record.ts';
import type { SlotItem } from './group-state.ts';
import { logicalIdOf, type Roster } from './roster.ts';

/** What binding the members of a group depends on. */
export interface BindingContext {
  readonly config: GroupConfig;
  readonly wanted: Wanted;
  readonly roster: Roster;
  readonly condemned: ReadonlySet<string>;
  readonly bindings: Readonly<Record<string, Binding>>;
  /** The host that we run on: destroyed only when no other is left, never replaced (GP-G1, GP §1.9). */
  readonly self: string | undefined;
  readonly revision: number;
}

/** One member as it is bound: its own tags, or what they would be if the sink took labels. */
interface Bound {
  readonly description: InstanceDescription;
  readonly tags: Tags | null;
  readonly hash: string;
  readonly isBootstrap: boolean;
  readonly isSelf: boolean;
}

/** The tags of a member with what could not be labelled laid over them. */
const effectiveTags = (tags: Tags | null, binding: Binding | undefined): Tags | null =>
  binding === undefined
    ? tags
    : {
        ...tags,
        ...(binding.Slot !== undefined && { [reservedTags.slot]: String(binding.Slot) }),
        ...(binding.Hash !== undefined && { [reservedTags.configHash]: binding.Hash }),
      };

const boundOf = (description: InstanceDescription, { bindings, self }: BindingContext): Bound => {
  const tags = effectiveTags(description.Tags, bindings[description.ID]);
  const hash = tags?.[reservedTags.configHash] ?? '';
  return {
    description,
    tags,
    hash,
    isBootstrap: hash === bootstrapHash,
    isSelf: self !== undefined && (description.ID === self || logicalIdOf(description) === self),
  };
};

/** All that are in: those that the sink shows and are not on their way out, and those it does not show yet. */
const presentOf = (instances: readonly InstanceDescription[], context: BindingContext): Map<string, Bound> => {
  const present = new Map<string, Bound>();
  for (const description of instances) {
    if (!context.roster.hasLeft(description.ID)) present.set(description.ID, boundOf(description, context));
  }
  for (const description of context.roster.unseen()) {
    if (!present.has(description.ID)) present.set(description.ID, boundOf(description, context));
  }
  return present;
};

const createdOf = ({ Created }: InstanceDescription): { readonly createdMs?: number } => {
  const createdMs = Created === undefined ? Number.NaN : Date.parse(Created);
  return Number.isNaN(createdMs) ? {} : { createdMs };
};

interface Places {
  readonly slots: readonly { readonly slot: string; readonly memberId: string | null; readonly adopt: boolean }[];
  readonly victims: readonly string[];
  readonly unidentified: readonly string[];
}

const placesOf = (present: ReadonlyMap<string, Bound>, isEmptying: boolean, context: BindingContext): Places => {
  const { config, wanted, roster, condemned, self } = context;
  const members = [...present.values()].map(
    ({ description, tags }): SlotMember => ({
      id: description.ID,
      logicalId: description.LogicalID,
      tags,
      health: roster.member(description.ID)?.Health ?? 'unknown',
      ...createdOf(description),
    }),
  );
  const common = { members, condemned, configHash: config.hash, selfId: self };
  if (wanted.kind === 'logicalIds' && !isEmptying) return bindLogicalIds({ ...common, logicalIds: wanted.ids });
  const size = isEmptying || wanted.kind === 'logicalIds' ? 0 : wanted.size;
  const { slots, victims } = bindSlots({ ...common, size });
  return { slots: slots.map((one) => ({ ...one, slot: String(one.slot) })), victims, unidentified: [] };
};

const isOutdated = ({ hash, isBootstrap }: Bound, { config }: BindingContext): boolean =>
  hash !== config.hash && !isBootstrap;

/**
 * The one outdated member that may be replaced now (GP §1.10): by id, only while every slot is filled, nobody is surplus
 * (GP-G18) or waits for a label, and all members of the new configuration are healthy. Our own host stays as it is.
 */
const nextToReplace = (
  { slots, victims }: Places,
  present: ReadonlyMap<string, Bound>,
  context: BindingContext,
): string | undefined => {
  if (victims.length > 0) return undefined;
  let next: string | undefined;
  for (const { memberId, adopt } of slots) {
    const bound = memberId === null ? undefined : present.get(memberId);
    if (memberId === null || bound === undefined || adopt || bound.isBootstrap) return undefined;
    if (!isOutdated(bound, context)) {
      if (context.roster.member(memberId)?.Health !== 'healthy') return undefined;
    } else if (!bound.isSelf && (next === undefined || compareUtf8(memberId, next) < 0)) next = memberId;
  }
  return next;
};

const ours = { kind: 'ours' } as const;
const unlabelled = { kind: 'named', judged: true } as const;
const unidentified = { kind: 'foreign', owner: 'nobody: it has no logical id' } as const;

/** Both sides of a group with their keys: slots, and who is in them (DESIGN §1). */
export const bindGroup = (
  source: Source<SlotItem>,
  instances: readonly InstanceDescription[],
  context: BindingContext,
): Keyed<SlotItem> => {
  const isEmptying = source.kind === 'known' && source.phase === 'destroyed';
  const { config, wanted, condemned, revision } = context;
  const present = presentOf(instances, context);
  const places = placesOf(present, isEmptying, context);
  const chosen = nextToReplace(places, present, context);
  const entries: DesiredEntry[] = [];
  const observed: ObservedEntry[] = [];
  const items = new Map<string, SlotItem>();
  const filled = new Set<string>();

  for (const [place, { slot, memberId, adopt }] of places.slots.entries()) {
    const bound = memberId === null ? undefined : present.get(memberId);
    const isStaying = bound !== undefined && memberId !== chosen && isOutdated(bound, context);
    const key = { kind: 'known', value: slot } as const;
    items.set(
      slot,
      wanted.kind === 'size' ? { sequence: Number(slot), logicalId: null } : { sequence: place, logicalId: slot },
    );
    entries.push(isStaying ? { id: slot, key } : { id: slot, key, content: config.hash });
    if (bound === undefined) continue;
    const needsLabel = adopt || bound.isBootstrap;
    if (!isOutdated(bound, context)) filled.add(slot);
    observed.push({
      id: bound.description.ID,
      key,
      ownership: needsLabel ? unlabelled : ours,
      sourceId: slot,
      content: bound.isBootstrap ? config.hash : bound.hash,
    });
  }

  const victims =
    isEmptying && places.victims.length > 1 ? places.victims.filter((id) => !present.get(id)?.isSelf) : places.victims;
  const causes = new Map<string, Explanation>();
  for (const id of victims) {
    const bound = present.get(id);
    if (bound === undefined) continue;
    const slot = bound.tags?.[reservedTags.slot] ?? logicalIdOf(bound.description) ?? '';
    const isReplaced = isOutdated(bound, context) && filled.has(slot);
    const cause = condemned.has(id) ? 'request' : isReplaced ? 'update' : 'scale';
    causes.set(id, { by: 'departure', cause, revision });
    observed.push({ id, key: { kind: 'known', value: `surplus/${id}` }, ownership: ours, content: bound.hash });
  }
  for (const id of places.unidentified) {
    observed.push({ id, key: { kind: 'known', value: `unidentified/${id}` }, ownership: unidentified });
  }
  const reading = source.kind === 'unknown' ? source : { ...source, entries };
  return {
    source: reading,
    observed,
    itemOf: (sourceId) => items.get(sourceId),
    explain: ({ id }) => causes.get(id),
  };
};
