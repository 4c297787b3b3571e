import type { Cause, Departure, Health, InstanceDescription, Spec } from '@infrakit/core';
import type { Clock, CycleOutcome, RuleRecord, Source } from '@infrakit/runtime';
import {
  type Condition,
  type Events,
  type Flavor,
  type Journal,
  type Log,
  type MembersPublisher,
  withDeadline,
} from '@infrakit/spi';
import { type Observable, Subject } from 'rxjs';
import { type DurableCell, durableCell } from './durable-cell.ts';
import { type GroupConfig, targetOf, type Wanted } from './group-config.ts';
import { type GroupRecord, newRecord, writeRecord } from './group-record.ts';
import { healthCheck } from './health-check.ts';
import { type MemberNews, memberFeed } from './member-feed.ts';
import { type MembershipLog, type MembershipView, membershipLog } from './membership.ts';
import { type Roster, roster } from './roster.ts';

/** One slot to be filled: what the source of a group consists of. */
export interface SlotItem {
  /** The slot's number; in a group of logical ids its place in the list (GP-G14). */
  readonly sequence: number;
  readonly logicalId: string | null;
}

/** What a group is kept with. */
export interface GroupStateDeps {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: Events;
  readonly members: MembersPublisher;
  /** Of this start of the plugin. */
  readonly incarnation: string;
  /** Publishes the state topic of the group again. */
  readonly refresh: (name: string) => void;
}

/** A configuration with the size as it was set since: what a rule of a group goes by. */
export interface InForce {
  readonly config: GroupConfig;
  wanted: Wanted;
}

/** One group as this process knows it: its record, who is in it, and what it is to become. */
export interface GroupState {
  readonly name: string;
  readonly roster: Roster;
  readonly membership: MembershipLog;
  /** The durable facts; null while the group was only planned. */
  readonly record: () => GroupRecord | null;
  /** Changes the durable facts; durable when it resolves. */
  readonly change: (make: (now: GroupRecord) => GroupRecord) => Promise<GroupRecord>;
  /** Records a commit, in the place of whatever was there. */
  readonly commit: (spec: Spec, revision: number) => Promise<void>;
  readonly inForce: () => InForce | null;
  readonly phase: () => RuleRecord['phase'] | null;
  /** What `inForce` goes by from now on, and in which phase. */
  readonly begin: (inForce: InForce, phase: RuleRecord['phase']) => void;
  /** The tombstone is written: nobody is in, nor will be. */
  readonly end: () => void;
  readonly seen: (outcome: CycleOutcome) => void;
  readonly outcome: () => CycleOutcome | null;
  readonly view: () => MembershipView;
  /** The source of the rule in force: the very same object while nothing that a plan depends on is new. */
  readonly source: () => Source<SlotItem>;
  /** Takes in a look of the loop: durable, as far as it must be, when it resolves. */
  readonly observe: (instances: readonly InstanceDescription[], leaving: ReadonlyMap<string, Cause>) => Promise<void>;
  readonly tell: (news: MemberNews) => void;
  /** Takes in that a member was made, which the sink may not show until `untilMs`. */
  readonly joined: (description: InstanceDescription, health: Health, untilMs: number) => void;
  /** Takes in that a member was destroyed, which the sink may show until `untilMs`. */
  readonly left: (id: string, untilMs: number) => void;
  readonly pollHealth: (flavor: Flavor, properties: unknown) => void;
  /** The condition with the time since when it is so. */
  readonly since: (condition: Condition) => Condition;
  readonly nudge: () => void;
  readonly nudges: Observable<void>;
  readonly stop: () => void;
}

/** Revisions that are reserved by one write, so that a member more costs none. */
const block = 1_000_000;
const writeTimeoutMs = 10_000;
const health = { intervalMs: 30_000, timeoutMs: 5_000 };

const isSameLeaving = (before: GroupRecord['leaving'], wanted: ReadonlyMap<string, Cause>, who: Roster): boolean => {
  const known = new Map(before.map(({ ID, Cause }) => [ID, Cause]));
  for (const [id, cause] of wanted) if (known.get(id) !== cause) return false;
  return !before.some(({ ID }) => !wanted.has(ID) && who.has(ID));
};

/** The state of the group `name`; `first` is what its journal holds. */
export const groupState = (name: string, first: GroupRecord | null, deps: GroupStateDeps): GroupState => {
  const { clock, log, incarnation } = deps;
  const who = roster();
  const nudges = new Subject<void>();
  const checks = healthCheck({ clock, log, ...health });
  const membership = membershipLog(who, {
    ceiling: first?.ceiling ?? 0,
    departed: first?.departed ?? [],
    incarnation,
  });
  if (first !== null) membership.trim(first.consumers);
  const feed = memberFeed(name, {
    ...deps,
    list: () => (view().unknown === null ? who.list() : null),
    refresh: () => deps.refresh(name),
  });
  let cell: DurableCell<GroupRecord> | null = null;
  let inForce: InForce | null = null;
  let phase: RuleRecord['phase'] | null = null;
  let outcome: CycleOutcome | null = null;
  let unknown: string | null = 'nobody has looked yet';
  let isFirstLook = true;
  let converged: Condition | undefined;
  let leaving: ReadonlyMap<string, Cause> = new Map();
  let cached: { readonly of: readonly unknown[]; readonly source: Source<SlotItem> } | undefined;

  const write = (record: GroupRecord): Promise<void> =>
    withDeadline((signal) => writeRecord(deps.journal, name, record, { signal, timeoutMs: writeTimeoutMs }), {
      after: clock.after,
      what: `writing the record of group ${name}`,
      timeoutMs: writeTimeoutMs,
    });
  const hold = (record: GroupRecord): DurableCell<GroupRecord> => {
    cell = durableCell(record, write);
    return cell;
  };
  if (first !== null) {
    hold(first);
    leaving = new Map(first.leaving.map(({ ID, Cause }) => [ID, Cause]));
  }

  /** A record with what is only known here, and revisions for a while. */
  const whole = (record: GroupRecord): GroupRecord => ({
    ...record,
    leaving: isFirstLook ? record.leaving : record.leaving.filter(({ ID }) => who.has(ID)),
    departed: membership.trim(record.consumers),
    ceiling: Math.max(record.ceiling, membership.revision() + block),
  });

  const tell = (news: MemberNews): void => {
    membership.note(news);
    feed.tell(news);
  };

  const change: GroupState['change'] = async (make) => {
    if (cell === null) throw new Error(`group ${name} has no record to change`);
    return cell.update((now) => {
      const next = make(now);
      return next === now ? now : whole(next);
    });
  };

  const noteGone = (causes: ReadonlyMap<string, Cause>): void => {
    const told = new Set(membership.departed().map(({ ID }: Departure) => ID));
    for (const [id, cause] of causes)
      if (!who.has(id) && !who.hasLeft(id) && !told.has(id)) membership.depart(id, cause);
  };

  const view = (): MembershipView => {
    const record = cell?.get();
    if (record?.phase === 'destroyed') return { target: 0, unknown: null, isDestroyed: true };
    if (phase === 'destroying') return { target: 0, unknown, isDestroyed: true };
    const target = inForce === null ? 0 : targetOf(inForce.wanted);
    if (phase === 'freed') return { target, unknown: 'freed', isDestroyed: false };
    if (phase === null) return { target, unknown: 'not committed since the start', isDestroyed: false };
    return { target, unknown, isDestroyed: false };
  };

  return {
    name,
    roster: who,
    membership,
    record: () => cell?.get() ?? null,
    change,
    commit: async (spec, revision) => {
      const before = cell?.get() ?? null;
      const isLive = before?.phase === 'live';
      const next = (now: GroupRecord): GroupRecord =>
        whole(isLive ? { ...now, spec, revision } : newRecord(spec, revision, now));
      if (cell !== null) await cell.update(next);
      else {
        const record = whole(newRecord(spec, revision, null));
        await write(record);
        hold(record);
      }
    },
    inForce: () => inForce,
    phase: () => phase,
    begin: (next, now) => {
      inForce = next;
      phase = now;
      if (now === 'freed') feed.clear();
      else feed.changed();
    },
    end: () => {
      inForce = null;
      phase = null;
      outcome = null;
      feed.clear();
    },
    seen: (now) => {
      outcome = now;
      if (now.kind === 'failed' && now.at === 'sink') unknown = now.error.message;
    },
    outcome: () => outcome,
    view,
    source: () => {
      const { condemned, bindings } = cell?.get() ?? { condemned: null, bindings: null };
      const isOverdue = who.isOverdue(clock.now()) ? {} : null;
      const of = [inForce?.wanted, membership.revision(), condemned, bindings, isOverdue];
      if (cached === undefined || of.some((part, index) => part !== cached?.of[index])) {
        const target = inForce === null ? 0 : targetOf(inForce.wanted);
        cached = { of, source: { kind: 'known', items: [], target } };
      }
      return cached.source;
    },
    observe: async (instances, wanted) => {
      const record = cell?.get();
      if (record === undefined) return;
      // Once a start: what is told from here on must be below what the next start goes on from.
      if (membership.revision() + block / 2 > record.ceiling) await change((now) => ({ ...now }));
      who.observe(instances, { nowMs: clock.now(), leaving, tell });
      if (isFirstLook) noteGone(leaving);
      if (isFirstLook || unknown !== null) feed.changed();
      isFirstLook = false;
      unknown = null;
      if (isSameLeaving(cell?.get().leaving ?? [], wanted, who)) return;
      const list = [...wanted].map(([ID, Cause]) => ({ ID, Cause }));
      await change((now) => ({
        ...now,
        leaving: list,
        condemned: now.condemned.filter((id) => who.has(id) || who.hasLeft(id)),
        bindings: Object.fromEntries(Object.entries(now.bindings).filter(([id]) => who.has(id))),
      }));
      for (const [id, cause] of wanted) {
        const member = who.member(id);
        if (member !== undefined && !leaving.has(id)) tell({ kind: 'leaving', member, cause });
      }
      leaving = new Map(wanted);
    },
    tell,
    joined: (description, state, untilMs) => {
      who.join(description, state, untilMs);
      const member = who.member(description.ID);
      if (member !== undefined) tell({ kind: 'joined', member });
    },
    left: (id, untilMs) => {
      const member = who.member(id);
      if (who.leave(id, untilMs) && member !== undefined) {
        tell({ kind: 'left', member, cause: leaving.get(id) ?? 'vanished' });
      }
    },
    pollHealth: (flavor, properties) =>
      checks.poll(
        { flavor, properties, all: () => [...who.descriptions()], doubtful: () => who.doubtful() },
        (answers) => {
          const { isQuietly, isChanged } = who.setHealth(answers, tell);
          if (isQuietly) membership.touch();
          if (isQuietly) feed.changed();
          if (isQuietly || isChanged) nudges.next();
        },
      ),
    since: (condition) => {
      const isSame = converged?.isTrue === condition.isTrue;
      converged = {
        ...condition,
        sinceMs: isSame ? (converged?.sinceMs ?? condition.sinceMs) : Math.round(clock.now()),
      };
      return converged;
    },
    nudge: () => nudges.next(),
    nudges,
    stop: () => feed.stop(),
  };
};
