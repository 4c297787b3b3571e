import {
  AppError,
  bootstrapHash,
  digest,
  type InstanceDescription,
  type InstanceSpec,
  reservedTags,
  toAppError,
} from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { CallContext, Flavor, Instance, Log } from '@infrakit/spi';
import { allocationOf, type GroupConfig } from './group-config.ts';
import type { GroupState, InForce, SlotItem } from './group-state.ts';
import { askHealth } from './health-check.ts';

/** What members are made and destroyed with. */
export interface MemberLifeDeps {
  readonly state: GroupState;
  readonly inForce: InForce;
  readonly instance: Instance;
  readonly flavor: Flavor;
  readonly clock: Clock;
  readonly log: Log;
  /** How long the sink may take to show what was done, in ms (GP-G21). */
  readonly graceMs: number;
}

/** A new member's health is told with its joining when the flavor says it within this time, in ms. */
const firstHealthMs = 1_000;
const drainMs = 10_000;

const slotTags = (config: GroupConfig, group: string, { sequence, logicalId }: SlotItem): Record<string, string> => ({
  [reservedTags.group]: group,
  [reservedTags.configHash]: config.hash,
  ...(logicalId === null ? { [reservedTags.slot]: String(sequence) } : { [reservedTags.logicalId]: logicalId }),
});

/**
 * The spec of a member as the flavor prepared it (GP §1.9). Our own tags stand over whatever the flavor made of them: by
 * them the member is found again.
 */
const prepareMember = async (
  item: SlotItem,
  { state, inForce, flavor }: Pick<MemberLifeDeps, 'state' | 'inForce' | 'flavor'>,
  ctx: CallContext,
): Promise<InstanceSpec> => {
  const { config, wanted } = inForce;
  const Tags = slotTags(config, state.name, item);
  const bare: InstanceSpec = {
    Properties: config.instance.Properties ?? null,
    Tags,
    Init: '',
    LogicalID: item.logicalId,
    Attachments: null,
  };
  const { spec } = await flavor.prepare(
    {
      properties: config.flavor.Properties ?? null,
      spec: bare,
      allocation: allocationOf(wanted),
      index: { Group: state.name, Sequence: item.sequence },
    },
    ctx,
  );
  return { ...spec, Tags: { ...spec.Tags, ...Tags }, LogicalID: item.logicalId };
};

/** Whether a member cannot be the one that is to fill a place: it fills another one, or is condemned to go. */
const isElsewhere = (state: GroupState, id: string, { sequence, logicalId }: SlotItem): boolean => {
  if (state.record()?.condemned.includes(id) === true) return true;
  const description = state.roster.description(id);
  if (description === undefined || logicalId !== null) return false;
  const slot = state.record()?.bindings[id]?.Slot ?? description.Tags?.[reservedTags.slot];
  return slot !== undefined && String(slot) !== String(sequence);
};

/**
 * Makes one member and takes it in at once; answers its id. A key that the sink still knows for a member which has moved
 * to another slot since, or is to go, asks for a further one, by a key that follows from both, so that a restart asks the same (Law 7).
 */
export const createMember = async (item: SlotItem, deps: MemberLifeDeps, ctx: CallContext): Promise<string> => {
  const { state, inForce, instance, flavor, clock } = deps;
  const spec = await prepareMember(item, deps, ctx);
  let own = ctx;
  let { id } = await instance.provision({ spec }, own);
  while (own.idempotencyKey !== undefined && isElsewhere(state, id, item)) {
    own = { ...own, idempotencyKey: digest([own.idempotencyKey, id]) };
    ({ id } = await instance.provision({ spec }, own));
  }
  if (state.roster.has(id)) return id;
  const description: InstanceDescription = Object.freeze({
    ID: id,
    LogicalID: spec.LogicalID,
    Tags: Object.freeze(spec.Tags),
  });
  const properties = inForce.config.flavor.Properties ?? null;
  const asked = await askHealth({ flavor, properties }, [description], { ...ctx, timeoutMs: firstHealthMs });
  state.joined(description, asked.get(id) ?? 'unknown', clock.now() + deps.graceMs);
  return id;
};

/** Drains and destroys one member and takes it out at once (GP §1.9). One that is gone already is no error. */
export const destroyMember = async (
  id: string,
  reason: 'terminate' | 'rolling_update',
  deps: MemberLifeDeps,
  ctx: CallContext,
): Promise<void> => {
  const { state, inForce, instance, flavor, clock, log } = deps;
  const description = state.roster.description(id);
  const isDrained = description !== undefined && !(reason === 'rolling_update' && inForce.config.skipsDrain);
  if (isDrained) {
    const properties = inForce.config.flavor.Properties ?? null;
    try {
      await flavor.drain({ properties, instance: description }, { ...ctx, timeoutMs: drainMs });
    } catch (thrown) {
      if (reason === 'rolling_update') throw thrown;
      log.warn({ group: state.name, id, error: toAppError(thrown).message }, 'a member could not be drained');
    }
  }
  try {
    await instance.destroy({ id, context: { Reason: reason } }, ctx);
  } catch (thrown) {
    if (toAppError(thrown).code !== 'INSTANCE_NOT_FOUND') throw thrown;
  }
  state.left(id, clock.now() + deps.graceMs);
};

/**
 * Binds a member to its slot: by a label, or in the group's record where the sink refuses labels (DESIGN §4). One that asks to
 * be adopted gets the present configuration's hash with it (GP §1.6).
 */
export const labelMember = async (
  id: string,
  slot: string | undefined,
  { state, inForce, instance }: Pick<MemberLifeDeps, 'state' | 'inForce' | 'instance'>,
  ctx: CallContext,
): Promise<void> => {
  const { config, wanted } = inForce;
  const isBootstrap = state.roster.description(id)?.Tags?.[reservedTags.configHash] === bootstrapHash;
  const isSlot = wanted.kind === 'size' && slot !== undefined;
  const labels = {
    [reservedTags.group]: state.name,
    ...(isBootstrap && { [reservedTags.configHash]: config.hash }),
    ...(isSlot && { [reservedTags.slot]: slot }),
  };
  try {
    await instance.label({ id, labels }, ctx);
  } catch (thrown) {
    const error = thrown instanceof AppError ? thrown : toAppError(thrown);
    if (error.code !== 'LABEL_REFUSED') throw error;
    const binding = { ...(isSlot && { Slot: Number(slot) }), ...(isBootstrap && { Hash: config.hash }) };
    await state.change((now) => ({ ...now, bindings: { ...now.bindings, [id]: binding } }));
  }
};
