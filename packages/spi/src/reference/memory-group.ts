import {
  AppError,
  type Cause,
  compareUtf8,
  type Departure,
  digest,
  GroupProperties,
  type Member,
  membersDigest,
  type Spec,
  trimDepartures,
} from '@infrakit/core';
import type { PlanText } from '../controller.ts';
import type { Group } from '../group.ts';
import { type Rule, ruleBook } from './rule-book.ts';

/** What lies around the groups; they act at once on every change. */
export interface MemoryMachines {
  /** Ids of the members that exist, whatever became of their group, sorted. */
  readonly members: (group: string) => string[];
  /** Takes a member away as a dying machine would. */
  readonly vanish: (group: string, id: string) => void;
}

type Machine = Member & { readonly configuration: string };

interface Roster {
  readonly machines: Map<string, Machine>;
  /** What each registered consumer has acknowledged. */
  readonly acknowledged: Map<string, number>;
  departures: readonly Departure[];
  revision: number;
}

interface Difference {
  readonly create: readonly (string | null)[];
  readonly scale: readonly string[];
  readonly update: readonly string[];
}

const propertiesOf = (spec: Spec): GroupProperties => {
  const parsed = GroupProperties.safeParse(spec.properties);
  if (parsed.success) return parsed.data;
  throw new AppError('GROUP_INVALID', `${spec.metadata.name}: ${parsed.error.issues.map(({ message }) => message)}`);
};

const targetOf = (spec: Spec): number => {
  const { LogicalIDs, Size = 0 } = propertiesOf(spec).Allocation;
  return LogicalIDs?.length ?? Size;
};

const hasLogicalIds = (spec: Spec): boolean => propertiesOf(spec).Allocation.LogicalIDs !== undefined;

const withSize = (spec: Spec, Size: number): Spec => ({
  ...spec,
  properties: { ...propertiesOf(spec), Allocation: { Size } },
});

const configurationOf = (spec: Spec): string => {
  const { Instance, Flavor } = propertiesOf(spec);
  return digest({ Instance, Flavor });
};

const check = (spec: Spec, present: Rule | undefined): void => {
  const { Size, LogicalIDs } = propertiesOf(spec).Allocation;
  const { name } = spec.metadata;
  if ((Size === undefined) === (LogicalIDs === undefined)) {
    throw new AppError('GROUP_INVALID', `the Allocation of ${name} needs either a Size or LogicalIDs`);
  }
  if (present !== undefined && hasLogicalIds(present.spec) !== hasLogicalIds(spec)) {
    throw new AppError('GROUP_INVALID', `${name} cannot change from Size to LogicalIDs or back (GP-G5)`);
  }
};

const demandSized = (spec: Spec): void => {
  if (hasLogicalIds(spec)) throw new AppError('GROUP_INVALID', `${spec.metadata.name} has LogicalIDs, not a Size`);
};

/** A {@link Group} in memory: members are made and destroyed at once, and a changed configuration replaces them at once. */
export const memoryGroup = (): { group: Group; machines: MemoryMachines } => {
  const rosters = new Map<string, Roster>();
  let made = 0;

  const rosterOf = (name: string): Roster => {
    const found = rosters.get(name);
    if (found === undefined) throw new AppError('GROUP_NOT_FOUND', `there is no group ${name}`);
    return found;
  };
  const idsOf = (name: string): string[] => [...(rosters.get(name)?.machines.keys() ?? [])].sort(compareUtf8);

  const difference = (spec: Spec): Difference => {
    const { LogicalIDs } = propertiesOf(spec).Allocation;
    const configuration = configurationOf(spec);
    const { name } = spec.metadata;
    const present = [...(rosters.get(name)?.machines.values() ?? [])];
    const update = present.filter((machine) => machine.configuration !== configuration).map(({ ID }) => ID);
    const current = present.filter((machine) => machine.configuration === configuration);
    if (LogicalIDs !== undefined) {
      const create = LogicalIDs.filter((id) => !current.some(({ LogicalID }) => LogicalID === id));
      const scale = current.filter(({ LogicalID }) => !LogicalIDs.includes(LogicalID ?? '')).map(({ ID }) => ID);
      return { create, scale, update };
    }
    const target = targetOf(spec);
    const scale = current
      .map(({ ID }) => ID)
      .sort(compareUtf8)
      .slice(0, Math.max(0, current.length - target));
    return { create: Array(Math.max(0, target - current.length)).fill(null), scale, update };
  };

  const leave = (name: string, id: string, Cause: Cause): void => {
    const roster = rosterOf(name);
    if (!roster.machines.delete(id)) return;
    roster.revision += 1;
    roster.departures = [...roster.departures, { ID: id, Cause, Revision: roster.revision }];
  };
  const join = (name: string, LogicalID: string | null, configuration: string): void => {
    const roster = rosterOf(name);
    made += 1;
    const ID = `machine-${String(made).padStart(6, '0')}`;
    roster.machines.set(ID, { ID, LogicalID, Tags: { 'infrakit.group': name }, Health: 'healthy', configuration });
    roster.revision += 1;
  };
  const converge = (name: string): void => {
    if (!book.isActive(name)) return;
    const { spec } = book.rule(name);
    const { create, scale, update } = difference(spec);
    for (const LogicalID of create) join(name, LogicalID, configurationOf(spec));
    for (const id of scale) leave(name, id, 'scale');
    for (const id of update) leave(name, id, 'update');
  };
  const membersOf = (name: string): Member[] =>
    idsOf(name).flatMap((id) => {
      const machine = rosterOf(name).machines.get(id);
      if (machine === undefined) return [];
      const { configuration: _, ...member } = machine;
      return [member];
    });
  const planOf = (operation: 'commit' | 'destroy', spec: Spec): PlanText => {
    const { create, scale, update } =
      operation === 'commit' ? difference(spec) : { create: [], scale: idsOf(spec.metadata.name), update: [] };
    return {
      id: digest([create, scale, update]),
      messages: [
        ...create.map((id) => (id === null ? 'create a member' : `create ${id}`)),
        ...scale.map((id) => `destroy ${id}`),
        ...update.map((id) => `replace ${id}`),
      ],
      warnings: [],
    };
  };

  const book = ruleBook({
    unknownName: 'GROUP_NOT_FOUND',
    check,
    plan: planOf,
    enforce: (name) => {
      if (!rosters.has(name)) {
        rosters.set(name, { machines: new Map(), acknowledged: new Map(), departures: [], revision: 0 });
      }
      converge(name);
    },
    resume: converge,
    release: (name) => {
      for (const id of idsOf(name)) leave(name, id, 'destroy');
    },
    progress: () => ({ kind: 'converged' }),
    state: (name) => ({ Instances: rosters.has(name) ? membersOf(name) : [], Converged: true }),
  });

  const trim = (roster: Roster): void => {
    roster.departures = trimDepartures(roster.departures, roster.acknowledged);
  };

  const group: Group = {
    ...book.methods,
    members: async ({ name, digest: seen, sinceRevision = 0 }) => {
      const { departures: all, revision } = rosterOf(name);
      const departures = all.filter(({ Revision }) => Revision > sinceRevision);
      const isDestroyed = !book.names().includes(name);
      if (!isDestroyed && book.rule(name).isFreed) {
        return { kind: 'members', membership: { kind: 'unknown', reason: 'freed' }, members: [], departures };
      }
      const members = membersOf(name);
      const phase = isDestroyed ? 'destroyed' : 'running';
      const target = isDestroyed ? 0 : targetOf(book.rule(name).spec);
      const present = digest([phase, target, revision, membersDigest(members)]);
      if (seen === present) return { kind: 'unchanged', digest: present };
      const membership = { kind: 'known', count: members.length, target, revision, digest: present, phase } as const;
      return { kind: 'members', membership, members, departures };
    },
    size: async ({ name }) => ({ size: targetOf(book.rule(name).spec) }),
    setSize: async ({ name, size }) => {
      const { spec } = book.rule(name);
      demandSized(spec);
      book.amend(name, withSize(spec, size));
      return { before: targetOf(spec), after: size };
    },
    destroyInstances: async ({ name, instances }) => {
      const { spec } = book.rule(name);
      demandSized(spec);
      const victims = new Set(instances);
      const strangers = [...victims].filter((id) => !rosterOf(name).machines.has(id));
      if (strangers.length > 0) {
        const facts = { unknown: strangers };
        throw new AppError('MEMBER_UNKNOWN', `no members of ${name}: ${strangers.join(', ')}`, { facts });
      }
      const size = Math.max(0, targetOf(spec) - victims.size);
      for (const id of victims) leave(name, id, 'request');
      book.amend(name, withSize(spec, size));
      return { size };
    },
    update: async ({ name }) => {
      book.rule(name);
      return {};
    },
    registerConsumer: async ({ name, consumer }) => {
      const { acknowledged } = rosterOf(name);
      if (!acknowledged.has(consumer)) acknowledged.set(consumer, 0);
      return {};
    },
    acknowledge: async ({ name, consumer, revision }) => {
      const roster = rosterOf(name);
      const before = roster.acknowledged.get(consumer);
      if (before !== undefined)
        roster.acknowledged.set(consumer, Math.max(before, Math.min(revision, roster.revision)));
      trim(roster);
      return {};
    },
    unregisterConsumer: async ({ name, consumer }) => {
      const roster = rosterOf(name);
      roster.acknowledged.delete(consumer);
      trim(roster);
      return {};
    },
    approve: async ({ name }) => {
      book.rule(name);
      throw new AppError('PLAN_STALE', `nothing of ${name} is held`);
    },
    explain: async ({ name, entry }) => {
      book.rule(name);
      const last = rosterOf(name).departures.findLast(({ ID }) => ID === entry);
      if (rosterOf(name).machines.has(entry)) return { lines: [`${entry} is a member of ${name}`] };
      return { lines: [last === undefined ? `${entry} is no member of ${name}` : `${entry} left: ${last.Cause}`] };
    },
    adopt: async ({ name }) => {
      book.rule(name);
      return { adopted: [] };
    },
  };

  return {
    group,
    machines: {
      members: idsOf,
      vanish: (name, id) => {
        leave(name, id, 'vanished');
        converge(name);
      },
    },
  };
};
