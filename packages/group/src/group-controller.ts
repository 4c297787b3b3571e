import { AppError, type MembersAnswer, objectName } from '@infrakit/core';
import {
  type Clock,
  type Random,
  type RuleController,
  readRuleRecord,
  ruleController,
  type Serial,
  serial,
  type WorkerPool,
} from '@infrakit/runtime';
import type {
  CallContext,
  Events,
  Group,
  Journal,
  Log,
  MembersPublisher,
  Plugins,
  StatePublisher,
} from '@infrakit/spi';
import { groupConfig, targetOf } from './group-config.ts';
import { groupKind, groupNotFound } from './group-kind.ts';
import { type GroupRecord, readRecords } from './group-record.ts';
import { condemn, setSize } from './group-size.ts';
import { type GroupState, groupState, type InForce } from './group-state.ts';

/** What a group controller is made of. */
export interface GroupControllerDeps {
  /** Its own lookup name. */
  readonly name: string;
  readonly stackId: string;
  readonly plugins: Plugins;
  readonly events: Events;
  readonly members: MembersPublisher;
  readonly state: StatePublisher;
  readonly journal: Journal;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: () => string;
  readonly pool: WorkerPool;
  /** The logical or instance id of the host that this runs on. */
  readonly self: string | undefined;
  /** A full look at each group at least this often, in ms. */
  readonly pollIntervalMs: number;
  /** The list of groups is another one from now on. */
  readonly changed: () => void;
}

/** The groups of one plugin. */
export interface GroupController {
  readonly group: Group;
  /** Names of all groups that answer, tombstones included, sorted. */
  readonly names: () => readonly string[];
  /** No cycle begins after the call; resolves when those in progress have ended. */
  readonly stop: () => Promise<void>;
}

/** How long a cycle waits for members that take long to make before it looks again without them, in ms. */
const patienceMs = 1_000;

const starting = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

const unknown = (reason: string): MembersAnswer => ({
  kind: 'members',
  membership: { kind: 'unknown', reason },
  members: [],
  departures: [],
});

/**
 * The Group SPI over the loop (GP §1). Reads its records first; a group that was being destroyed when the process ended goes
 * on being destroyed, all others wait for their commit. `STORE_UNAVAILABLE` when the journal cannot be read.
 */
export const groupController = async (deps: GroupControllerDeps): Promise<GroupController> => {
  const { journal, clock, log } = deps;
  const incarnation = deps.newId();
  const states = new Map<string, GroupState>();
  const corrupt = new Map<string, AppError>();
  const turns = new Map<string, Serial>();
  let inner: RuleController<unknown, unknown>['book']['refresh'] = () => undefined;

  const newState = (name: string, record: GroupRecord | null): GroupState =>
    groupState(name, record, {
      journal,
      clock,
      log,
      events: deps.events,
      members: deps.members,
      incarnation,
      refresh: (group) => inner(group),
    });
  for (const [name, record] of await readRecords(journal, starting())) {
    if (record instanceof AppError) {
      corrupt.set(name, record);
      log.error({ group: name, error: record.message }, 'the record of a group cannot be read');
    } else states.set(name, newState(name, record));
  }

  const kind = groupKind({
    ...deps,
    stateOf: (name) => {
      const broken = corrupt.get(name);
      if (broken !== undefined) throw broken;
      return states.get(name) ?? newState(name, null);
    },
    keep: (state) => {
      states.set(state.name, state);
    },
  });
  const { controller, book } = ruleController(kind, { ...deps, patienceMs });
  inner = book.refresh;

  const ownName = (name: string): string => objectName(deps.name, name);
  const inTurn = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const turn = turns.get(name) ?? serial();
    turns.set(name, turn);
    return turn(work);
  };

  /** A group that is recorded, its tombstone included. */
  const recorded = (name: string): GroupState => {
    const state = states.get(ownName(name));
    if (state === undefined || state.record() === null) throw groupNotFound(name);
    return state;
  };
  /** A group that was committed since the start and is not being destroyed. */
  const kept = (name: string): { readonly state: GroupState; readonly inForce: InForce } => {
    const state = recorded(name);
    const inForce = state.inForce();
    if (inForce === null || state.phase() === 'destroying') throw groupNotFound(name);
    return { state, inForce };
  };
  const isTombstone = (name: string): boolean => {
    const own = ownName(name);
    return book.find(own) === undefined && states.get(own)?.record()?.phase === 'destroyed';
  };
  const demandNotDestroying = (name: string): void => {
    if (states.get(ownName(name))?.phase() === 'destroying') {
      throw new AppError('GROUP_INVALID', `${name} is being destroyed`);
    }
  };

  const commit: Group['commit'] = async ({ spec, revision, ...rest }, ctx) => {
    const name = ownName(spec.metadata.name);
    const state = states.get(name);
    const record = state?.record();
    // The size may have been set since that revision (DESIGN §5: durable before it answers).
    const isSame = record?.phase === 'live' && record.revision === revision;
    if (isSame && state?.phase() === 'destroying') {
      const { objects } = await controller.describe({ search: { name } }, ctx);
      if (objects[0] !== undefined) return { object: objects[0] };
    }
    return controller.commit({ spec: isSame ? record.spec : spec, revision, ...rest }, ctx);
  };

  const afterSize = (state: GroupState): void => {
    const record = state.record();
    if (record !== null) book.amend(state.name, record.spec);
  };

  const group: Group = {
    ...controller,
    commit: (params, ctx) => inTurn(ownName(params.spec.metadata.name), () => commit(params, ctx)),
    free: async (params, ctx) => {
      if (isTombstone(params.name)) return { objects: [] };
      demandNotDestroying(params.name);
      return controller.free(params, ctx);
    },
    hold: async (params, ctx) => {
      demandNotDestroying(params.name);
      return controller.hold(params, ctx);
    },
    destroy: async (params, ctx) => (isTombstone(params.name) ? { objects: [] } : controller.destroy(params, ctx)),
    members: async ({ name, digest, sinceRevision }) => {
      const broken = corrupt.get(ownName(name));
      if (broken !== undefined) return unknown(broken.message);
      const state = recorded(name);
      return state.membership.answer(state.view(), digest, sinceRevision);
    },
    size: async ({ name }) => {
      const state = recorded(name);
      const inForce = state.inForce();
      const record = state.record();
      if (record?.phase !== 'live') throw groupNotFound(name);
      return { size: targetOf(inForce?.wanted ?? groupConfig(state.name, record.spec.properties).wanted) };
    },
    setSize: ({ name, size }) =>
      inTurn(ownName(name), async () => {
        const { state, inForce } = kept(name);
        const answer = await setSize(state, inForce, size);
        afterSize(state);
        return answer;
      }),
    destroyInstances: ({ name, instances }) =>
      inTurn(ownName(name), async () => {
        const { state, inForce } = kept(name);
        const size = await condemn(state, inForce, instances);
        afterSize(state);
        return { size };
      }),
    update: async ({ name, verb }) => {
      kept(name);
      throw new AppError(
        'GROUP_INVALID',
        `an update of ${name} cannot be told to ${verb} yet: hold the group to stop it, or commit the old spec to take it back`,
      );
    },
    registerConsumer: async ({ name, consumer }) => {
      const state = recorded(name);
      await state.change((now) =>
        Object.hasOwn(now.consumers, consumer) ? now : { ...now, consumers: { ...now.consumers, [consumer]: 0 } },
      );
      return {};
    },
    acknowledge: async ({ name, consumer, revision }) => {
      const state = recorded(name);
      await state.change((now) => {
        const before = now.consumers[consumer];
        const after = Math.min(revision, state.membership.revision());
        if (before === undefined || after <= before) return now;
        return { ...now, consumers: { ...now.consumers, [consumer]: after } };
      });
      return {};
    },
    unregisterConsumer: async ({ name, consumer }) => {
      const state = recorded(name);
      await state.change((now) => {
        if (!Object.hasOwn(now.consumers, consumer)) return now;
        const { [consumer]: _, ...others } = now.consumers;
        return { ...now, consumers: others };
      });
      return {};
    },
  };

  const resume = async (name: string, record: GroupRecord): Promise<void> => {
    const rule = await readRuleRecord(journal, name, starting());
    if (rule?.phase === 'destroying') {
      await controller.commit({ spec: record.spec, revision: record.revision }, starting());
    }
  };
  for (const [name, state] of [...states]) {
    const record = state.record();
    if (record?.phase !== 'live') continue;
    await resume(name, record).catch((error: unknown) =>
      log.error({ group: name, error }, 'a group that was being destroyed could not be taken up again'),
    );
  }

  return {
    group,
    names: () => [...new Set([...book.names(), ...states.keys()])].sort(),
    stop: async () => {
      await book.stop();
      for (const state of states.values()) state.stop();
    },
  };
};
