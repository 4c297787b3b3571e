import { AppError, Cause, Departure, Spec } from '@infrakit/core';
import type { CallContext, Journal } from '@infrakit/spi';
import { z } from 'zod';

/** A member that the sink would not label, and what the label would have said (DESIGN §4). */
export const Binding = z.strictObject({ Slot: z.number().int().min(0).optional(), Hash: z.string().optional() });
export type Binding = z.infer<typeof Binding>;

/** What a group keeps across restarts: small facts, never the list of its members. */
export const GroupRecord = z.strictObject({
  /** `destroyed` is the tombstone: known to be empty, for those who still read it (Law 2). */
  phase: z.enum(['live', 'destroyed']),
  /** The revision of the spec in force. */
  revision: z.number().int().min(1),
  /** The spec in force, with the size as it was set since that revision. */
  spec: Spec,
  /** Members named by a request to destroy them (GP-G4). */
  condemned: z.array(z.string()),
  /** Members that are about to be destroyed, and why: written before the act (DESIGN §3). */
  leaving: z.array(z.strictObject({ ID: z.string().min(1), Cause })),
  /** Members that left, as far back as some consumer has not acknowledged. */
  departed: z.array(Departure),
  /** Who acknowledges departures, and up to which revision each has. */
  consumers: z.record(z.string(), z.number().int().min(0)),
  /** Membership revisions up to here may have been told; a restart goes on above it. */
  ceiling: z.number().int().min(0),
  bindings: z.record(z.string(), Binding),
});
export type GroupRecord = z.infer<typeof GroupRecord>;

const prefix = 'group/';

/** The record of a group that is committed for the first time, or again after its destruction: who follows it stays. */
export const newRecord = (spec: Spec, revision: number, before: GroupRecord | null): GroupRecord => ({
  phase: 'live',
  revision,
  spec,
  condemned: [],
  leaving: [],
  departed: [],
  consumers: before?.consumers ?? {},
  ceiling: before?.ceiling ?? 0,
  bindings: {},
});

/** All records of a journal, by group. One that cannot be read is told as an error and hides no other (GP-G9). */
export const readRecords = async (
  journal: Journal,
  ctx: CallContext,
): Promise<ReadonlyMap<string, GroupRecord | AppError>> => {
  const { entries } = await journal.list({ prefix }, ctx);
  return new Map(
    entries.map(({ key, value }) => {
      const name = key.slice(prefix.length);
      const parsed = GroupRecord.safeParse(value);
      const unreadable = (): AppError =>
        new AppError('STORE_CORRUPT', `the record of group ${name} cannot be read: ${parsed.error?.message}`);
      return [name, parsed.success ? parsed.data : unreadable()];
    }),
  );
};

/** Durable when it resolves. */
export const writeRecord = async (
  journal: Journal,
  name: string,
  record: GroupRecord,
  ctx: CallContext,
): Promise<void> => {
  await journal.write({ key: prefix + name, value: record }, ctx);
};
