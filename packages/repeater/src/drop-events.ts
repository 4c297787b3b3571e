import { type Event, reservedTags } from '@infrakit/core';
import type { Clock } from '@infrakit/runtime';
import type { MirrorDrops } from './mirror/mirror-engine.ts';
import type { MirrorRecord } from './mirror/mirror-table.ts';

/** What was dropped since the last event of its rule. */
export interface DropData {
  readonly sourcetopic: string;
  readonly dropped: number;
  /** Those of them that a full buffer had no room for; the others were too large or not to be put into the wanted form. */
  readonly overflowed: number;
  /** All that this rule has dropped since the repeater was started. */
  readonly total: number;
}

export interface DropEventsDeps {
  readonly drops: () => readonly ({ readonly record: MirrorRecord } & MirrorDrops)[];
  /** The start of the owner labels of this repeater's specs. */
  readonly ownerPrefix: string;
  /** The object of mirrors that belong to no spec of this repeater. */
  readonly topicObject: string;
  readonly publish: (event: Event) => void;
  readonly clock: Clock;
}

/** At most one event of a rule in this time, in ms. */
const everyMs = 1_000;

const suffix = 'dropped';

/** The topic under which drops of a spec's rules are told. */
export const dropTopic = (object: string): string => `${object}/${suffix}`;

/**
 * Tells of dropped messages: an event for each rule that has dropped some, at most one in a second (issue 6). Its topic is
 * `<spec>/dropped`, its ID `<spec>/<rule>`; mirrors without a spec of ours have `topic` in its place and their ID as the rule.
 * The result ends it, after what was dropped last is told.
 */
export const dropEvents = ({ drops, ownerPrefix, topicObject, publish, clock }: DropEventsDeps): (() => void) => {
  let told = new Map<string, MirrorDrops>();
  let cancel = (): void => undefined;

  const nameOf = ({ ID, Tags }: MirrorRecord): { readonly object: string; readonly rule: string } => {
    const owner = Tags[reservedTags.enrollmentOwner];
    if (owner?.startsWith(ownerPrefix) !== true) return { object: topicObject, rule: ID };
    return { object: owner.slice(ownerPrefix.length), rule: Tags[reservedTags.enrollmentSourceId] ?? ID };
  };

  const look = (): void => {
    const seen = new Map<string, MirrorDrops>();
    for (const { record, dropped: total, overflowed } of drops()) {
      const before = told.get(record.ID) ?? { dropped: 0, overflowed: 0 };
      seen.set(record.ID, { dropped: total, overflowed });
      const dropped = total - before.dropped;
      if (dropped === 0) continue;
      const { object, rule } = nameOf(record);
      const Data: DropData = {
        sourcetopic: record.mirror.sourcetopic,
        dropped,
        overflowed: overflowed - before.overflowed,
        total,
      };
      publish({
        Topic: dropTopic(object),
        Type: 'Dropped',
        ID: `${object}/${rule}`,
        Message: `${dropped} messages were dropped`,
        Timestamp: new Date(clock.now()).toISOString(),
        Data,
      });
    }
    told = seen;
  };
  const arm = (): void => {
    cancel = clock.after(everyMs, () => {
      look();
      arm();
    });
  };
  arm();
  return () => {
    cancel();
    look();
  };
};
