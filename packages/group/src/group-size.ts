import { AppError, type Spec } from '@infrakit/core';
import { checkSize, targetOf } from './group-config.ts';
import type { GroupRecord } from './group-record.ts';
import type { GroupState, InForce } from './group-state.ts';

/** The spec with another size; everything else as it was written. */
const withSize = (spec: Spec, Size: number): Spec => {
  const properties = typeof spec.properties === 'object' && spec.properties !== null ? spec.properties : {};
  const resized = Object.entries(properties).map(([field, value]): [string, unknown] =>
    field.toLowerCase() === 'allocation' ? ['Allocation', { Size }] : [field, value],
  );
  return { ...spec, properties: Object.fromEntries(resized) };
};

/** The group in force that a size belongs to. `GROUP_INVALID` where logical ids are set (GP §1.5). */
const sized = (inForce: InForce): number => {
  if (inForce.wanted.kind === 'logicalIds') {
    throw new AppError('GROUP_INVALID', 'cannot set size if logic ids are explicitly set');
  }
  return targetOf(inForce.wanted);
};

const apply = (state: GroupState, inForce: InForce, size: number): void => {
  inForce.wanted = { kind: 'size', size };
  state.nudge();
};

/** Sets the target; durable when it resolves, and then the loop goes by it (GP-G3, GP-G6). */
export const setSize = async (
  state: GroupState,
  inForce: InForce,
  size: number,
): Promise<{ readonly before: number; readonly after: number }> => {
  const before = sized(inForce);
  checkSize(size);
  if (size !== before) {
    await state.change((now) => ({ ...now, spec: withSize(now.spec, size) }));
    apply(state, inForce, size);
  }
  return { before, after: size };
};

/**
 * Condemns the named members and lowers the target by them in one write, after which the loop destroys exactly these
 * (GP-G4). One that is no member refuses the whole call; one that is condemned already is not counted again.
 */
export const condemn = async (state: GroupState, inForce: InForce, ids: readonly string[]): Promise<number> => {
  const size = sized(inForce);
  const { unknown } = state.view();
  if (unknown !== null) {
    throw new AppError('PLUGIN_UNAVAILABLE', `it is not known who is in ${state.name}: ${unknown}`);
  }
  const named = [...new Set(ids)];
  const strangers = named.filter((id) => !state.roster.has(id));
  if (strangers.length > 0) {
    throw new AppError('MEMBER_UNKNOWN', `no members of ${state.name}: ${strangers.join(', ')}`, {
      facts: { unknown: strangers },
    });
  }
  const known = new Set(state.record()?.condemned ?? []);
  const fresh = named.filter((id) => !known.has(id));
  if (fresh.length === 0) return size;
  const lowered = Math.max(0, size - fresh.length);
  await state.change(
    (now): GroupRecord => ({
      ...now,
      spec: withSize(now.spec, lowered),
      condemned: [...now.condemned, ...fresh],
    }),
  );
  apply(state, inForce, lowered);
  return lowered;
};
