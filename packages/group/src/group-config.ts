import {
  Allocation,
  type Allocation as AllocationType,
  AppError,
  configHash,
  PluginProperties,
  parseDuration,
  toAppError,
  Updating,
} from '@infrakit/core';
import { decode, type Problem, readDocument } from '@infrakit/document';
import { z } from 'zod';

/** The body of a group spec as it is written; what must be there is checked in the order of GP §1.4. */
const GroupBody = z.strictObject({
  Allocation: Allocation.nullish(),
  Instance: PluginProperties.nullish(),
  Flavor: PluginProperties.nullish(),
  Updating: Updating.nullish(),
});
type GroupBody = z.infer<typeof GroupBody>;

/** How many members, or which. */
export type Wanted =
  | { readonly kind: 'size'; readonly size: number }
  | { readonly kind: 'logicalIds'; readonly ids: readonly string[] };

/** A group spec that was found good in itself; its plugins are asked elsewhere. */
export interface GroupConfig {
  readonly wanted: Wanted;
  readonly instance: PluginProperties;
  readonly flavor: PluginProperties;
  /** The tag by which members of this configuration are told (GP §1.3). */
  readonly hash: string;
  /** Whether a member that is replaced is not drained; one that is terminated always is (GP §1.9). */
  readonly skipsDrain: boolean;
}

const invalid = (message: string): AppError => new AppError('GROUP_INVALID', message);

const isProblems = (value: unknown): value is readonly Problem[] => Array.isArray(value);

/** The problems of a decoded value without the places of a text that nobody wrote. */
const sentenceOf = (thrown: unknown): string => {
  const { facts, message } = toAppError(thrown);
  if (!isProblems(facts.problems)) return message;
  return facts.problems.map((one) => (one.path === '' ? one.message : `${one.path}: ${one.message}`)).join('; ');
};

const decodeBody = (properties: unknown): GroupBody => {
  try {
    const document = readDocument(JSON.stringify(properties ?? {}), { file: 'properties', format: 'json' });
    return decode(document, GroupBody).value;
  } catch (thrown) {
    throw invalid(`Invalid properties: ${sentenceOf(thrown)}`);
  }
};

/** Beyond this a slip of the keyboard would hold the process up while it counts slots, and take its memory. */
const mostMembers = 1_000_000;

/** Errors: `GROUP_INVALID`. */
export const checkSize = (size: number): void => {
  if (!Number.isInteger(size) || size < 0) throw invalid('size cannot be negative');
  if (size > mostMembers) throw invalid(`a group has at most ${mostMembers} members, not ${size}`);
};

const wantedOf = (allocation: AllocationType | null | undefined): Wanted => {
  const { Size, LogicalIDs = [] } = allocation ?? {};
  if (Size === undefined && LogicalIDs.length === 0) throw invalid('Allocation must not be blank');
  checkSize(Size ?? 0);
  if (LogicalIDs.length === 0) return { kind: 'size', size: Size ?? 0 };
  if (Size !== undefined && Size > 0) throw invalid('Only one Allocation method may be used');
  const twice = LogicalIDs.find((id, index) => LogicalIDs.indexOf(id) !== index);
  if (twice !== undefined) throw invalid(`the logical id ${twice} stands twice in Allocation.LogicalIDs`);
  return { kind: 'logicalIds', ids: LogicalIDs };
};

const checkUpdating = ({ Count = 0, Duration = '0s' }: Updating): void => {
  let durationMs: number;
  try {
    durationMs = parseDuration(Duration);
  } catch (thrown) {
    throw invalid(`Invalid properties: Updating.Duration: ${toAppError(thrown).message}`);
  }
  if (durationMs < 0) throw invalid(`Invalid properties: Updating.Duration: ${Duration} is negative`);
  if (Count > 0 && durationMs > 0) throw invalid('Only one Updating method may be used');
};

const missing = (what: 'Flavor' | 'Instance'): AppError =>
  invalid(`Failed to find ${what} plugin '': name one as ${what}.Plugin`);

/** The body of a group spec, checked in the order of GP §1.4, first failure wins: `GROUP_INVALID`. */
export const groupConfig = (name: string, properties: unknown): GroupConfig => {
  if (name.trim() === '') throw invalid('Group ID must not be blank');
  const body = decodeBody(properties);
  const wanted = wantedOf(body.Allocation);
  checkUpdating(body.Updating ?? {});
  if (body.Flavor == null) throw missing('Flavor');
  if (body.Instance == null) throw missing('Instance');
  return {
    wanted,
    instance: body.Instance,
    flavor: body.Flavor,
    hash: configHash(body.Instance, body.Flavor),
    skipsDrain: body.Updating?.SkipBeforeInstanceDestroy === 'drain',
  };
};

/** What plugins are told of the allocation. */
export const allocationOf = (wanted: Wanted): AllocationType =>
  wanted.kind === 'size' ? { Size: wanted.size } : { LogicalIDs: [...wanted.ids] };

/** How many members are wanted. */
export const targetOf = (wanted: Wanted): number => (wanted.kind === 'size' ? wanted.size : wanted.ids.length);
