import type { Health } from '../object/flavor.ts';
import { compareUtf8 } from '../value/canonical.ts';
import { bootstrapHash, reservedTags, type Tags } from '../value/tags.ts';

/** What binding goes by of one observed member. */
export interface SlotMember {
  readonly id: string;
  readonly logicalId?: string | null;
  readonly tags: Tags | null;
  readonly health: Health;
  readonly createdMs?: number;
}

/** One slot: who is in it, or nobody; `adopt` when the member does not carry the slot's tag yet and is to be labelled. */
export interface Slot<S extends number | string> {
  readonly slot: S;
  readonly memberId: string | null;
  readonly adopt: boolean;
}

/** Which member has which slot, and who is to be destroyed, in this order. */
export interface Binding<S extends number | string> {
  readonly slots: readonly Slot<S>[];
  readonly victims: readonly string[];
}

/** What binding depends on beside the members. */
export interface SlotContext {
  readonly members: readonly SlotMember[];
  /** Ids named by a request to destroy them: they go whatever the size is. */
  readonly condemned?: ReadonlySet<string>;
  /** The hash of the present configuration; members with another one, or none, go first. */
  readonly configHash: string;
  /** The host that we run on, as a logical id (GP §1.9) or an instance id: destroyed only when no other is left (GP-G1). */
  readonly selfId?: string | undefined;
}

const tagOf = ({ tags }: SlotMember, name: string): string | undefined =>
  tags !== null && Object.hasOwn(tags, name) ? tags[name] : undefined;

const logicalIdOf = (member: SlotMember): string | undefined =>
  member.logicalId ?? tagOf(member, reservedTags.logicalId);

const slotOf = (member: SlotMember): number | undefined => {
  const text = tagOf(member, reservedTags.slot);
  return text !== undefined && /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : undefined;
};

/** The ranks that both orders share: own host, condemned, outdated, unhealthy. */
const ranked = (member: SlotMember, { condemned, configHash, selfId }: SlotContext) => {
  const hash = tagOf(member, reservedTags.configHash);
  return {
    member,
    isSelf: selfId !== undefined && (member.id === selfId || logicalIdOf(member) === selfId),
    isCondemned: condemned?.has(member.id) === true,
    isOld: hash !== configHash && hash !== bootstrapHash,
    isUnhealthy: member.health === 'unhealthy',
  };
};
type Ranked = ReturnType<typeof ranked>;

/** Condemned, then outdated, then unhealthy, then by id (GP-G2); our own host behind all others (GP-G1). */
const byVictim = (left: Ranked, right: Ranked): number =>
  Number(left.isSelf) - Number(right.isSelf) ||
  Number(right.isCondemned) - Number(left.isCondemned) ||
  Number(right.isOld) - Number(left.isOld) ||
  Number(right.isUnhealthy) - Number(left.isUnhealthy) ||
  compareUtf8(left.member.id, right.member.id);

/** Who keeps a slot that two claim: our own host, the present configuration, healthy, the oldest, the smallest id. */
const byClaim = (left: Ranked, right: Ranked): number => {
  const [a, b] = [left.member.createdMs ?? Number.MAX_VALUE, right.member.createdMs ?? Number.MAX_VALUE];
  return (
    Number(right.isSelf) - Number(left.isSelf) ||
    Number(left.isOld) - Number(right.isOld) ||
    Number(left.member.health !== 'healthy') - Number(right.member.health !== 'healthy') ||
    a - b ||
    compareUtf8(left.member.id, right.member.id)
  );
};

const victimIds = (all: readonly Ranked[], staying: ReadonlySet<Ranked>): string[] =>
  all
    .filter((one) => !staying.has(one))
    .sort(byVictim)
    .map(({ member }) => member.id);

/**
 * Binds members to `size` numbered slots: after the victims are gone, the adopted are labelled and the empty slots are filled,
 * there are `size` members in `size` different slots. A member keeps the slot of its tag, however sparse: slots are never
 * renumbered. One without a valid tag, or whose slot another keeps, is adopted into the lowest free number, as empty slots are.
 * Slots ascend. Surplus members are victims: condemned first, then outdated, then unhealthy, then by id (GP-G1, GP-G2).
 */
export const bindSlots = (context: SlotContext & { readonly size: number }): Binding<number> => {
  const all = context.members.map((member) => ranked(member, context)).sort(byVictim);
  const candidates = all.filter(({ isCondemned }) => !isCondemned);
  const staying = candidates.slice(Math.max(0, candidates.length - context.size));
  const bound = new Map<number, Slot<number>>();
  const loose: Ranked[] = [];
  for (const one of [...staying].sort(byClaim)) {
    const slot = slotOf(one.member);
    if (slot === undefined || bound.has(slot)) loose.push(one);
    else bound.set(slot, { slot, memberId: one.member.id, adopt: false });
  }
  loose.sort((left, right) => compareUtf8(left.member.id, right.member.id));
  let next = 0;
  for (const waiting = loose.values(); bound.size < context.size; ) {
    while (bound.has(next)) next += 1;
    const one = waiting.next().value;
    bound.set(next, { slot: next, memberId: one?.member.id ?? null, adopt: one !== undefined });
  }
  const slots = [...bound.values()].sort((left, right) => left.slot - right.slot);
  return { slots, victims: victimIds(all, new Set(staying)) };
};

/**
 * Binds members to slots named by logical ids, in their order. Members with another id, the second of one id (GP-G8) and the
 * condemned are victims. Members without any logical id cannot be told: they are `unidentified`, left alone (GP §1.8).
 */
export const bindLogicalIds = (
  context: SlotContext & { readonly logicalIds: readonly string[] },
): Binding<string> & { readonly unidentified: readonly string[] } => {
  const all = context.members.map((member) => ranked(member, context));
  const told = all.filter((one) => one.isCondemned || logicalIdOf(one.member) !== undefined);
  const holders = new Map<string, Ranked | undefined>(context.logicalIds.map((id) => [id, undefined]));
  for (const one of told.filter(({ isCondemned }) => !isCondemned).sort(byClaim)) {
    const id = logicalIdOf(one.member);
    if (id !== undefined && holders.has(id) && holders.get(id) === undefined) holders.set(id, one);
  }
  const staying = new Set([...holders.values()].filter((one) => one !== undefined));
  const toldSet = new Set(told);
  return {
    slots: [...holders].map(([slot, one]) => ({ slot, memberId: one?.member.id ?? null, adopt: false })),
    victims: victimIds(told, staying),
    unidentified: all.flatMap((one) => (toldSet.has(one) ? [] : [one.member.id])).sort(compareUtf8),
  };
};
