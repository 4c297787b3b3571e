import { AppError, GroupProperties, type MembersAnswer, membersDigest } from '@infrakit/core';
import type { Group } from '../group.ts';
import type { MemoryMachines } from '../reference/memory-group.ts';
import { memoryGroupSubject } from '../reference/memory-group-subject.ts';
import type { GroupSubject } from './group-subject.ts';
import { testingContext } from './testing-context.ts';

type Change = (group: Group, machines: MemoryMachines) => Partial<Group>;

const changed = (change: Change): GroupSubject =>
  memoryGroupSubject((group, machines) => ({ ...group, ...change(group, machines) }));

const ctx = testingContext();

type Whole = Extract<MembersAnswer, { readonly kind: 'members' }>;

/** A group whose whole answers are changed on the way out. */
const answering = (change: (answer: Whole) => Whole): GroupSubject =>
  changed((group) => ({
    members: async (params) => {
      const answer = await group.members(params, ctx);
      return answer.kind === 'members' ? change(answer) : answer;
    },
  }));

const withoutCheck: Change = (group, machines) => ({
  destroyInstances: async ({ name, instances }) => {
    const { size } = await group.size({ name }, ctx);
    const members = instances.filter((id) => machines.members(name).includes(id));
    if (members.length > 0) await group.destroyInstances({ name, instances: members }, ctx);
    const after = Math.max(0, size - instances.length);
    await group.setSize({ name, size: after }, ctx);
    return { size: after };
  },
});

const withDigest = (digestOf: (answer: Whole) => string): GroupSubject =>
  changed((group) => ({
    members: async ({ digest: seen, ...params }) => {
      const answer = await group.members(params, ctx);
      if (answer.kind !== 'members' || answer.membership.kind !== 'known') return answer;
      const digest = digestOf(answer);
      if (seen === digest) return { kind: 'unchanged', digest };
      return { ...answer, membership: { ...answer.membership, digest } };
    },
  }));

/** Groups with one thing wrong each. */
export const brokenGroups = [
  {
    what: 'plans a destroy when it is asked to plan a commit',
    failing: 'planning a commit changes nothing and makes no rule',
    make: () => changed((group) => ({ plan: async (params) => group.plan({ ...params, operation: 'destroy' }, ctx) })),
  },
  {
    what: 'lists one member too few',
    failing: 'a committed group comes to its size, and says so',
    make: () => answering((answer) => ({ ...answer, members: answer.members.slice(1) })),
  },
  {
    what: 'makes all members anew when it grows',
    failing: 'growing keeps all members, shrinking takes none but the surplus',
    make: () =>
      changed((group) => ({
        setSize: async ({ name, size }) => {
          const { size: before } = await group.size({ name }, ctx);
          await group.setSize({ name, size: 0 }, ctx);
          await group.setSize({ name, size }, ctx);
          return { before, after: size };
        },
      })),
  },
  {
    what: 'tells the number of members as its size',
    failing: 'size is the target at once, and the spec in force says it',
    make: () => changed((_, machines) => ({ size: async ({ name }) => ({ size: machines.members(name).length - 1 }) })),
  },
  {
    what: 'forgets a new size in its spec',
    failing: 'size is the target at once, and the spec in force says it',
    make: () => {
      const committed = new Map<string, number | undefined>();
      return changed((group) => ({
        commit: async (params) => {
          const { Allocation } = GroupProperties.parse(params.spec.properties);
          committed.set(params.spec.metadata.name, Allocation.Size);
          return group.commit(params, ctx);
        },
        spec: async (params) => {
          const { spec, revision } = await group.spec(params, ctx);
          const properties = GroupProperties.parse(spec.properties);
          const Allocation = { Size: committed.get(params.name) };
          return { spec: { ...spec, properties: { ...properties, Allocation } }, revision };
        },
      }));
    },
  },
  {
    what: 'adds the size to the present one',
    failing: 'setting the size again changes nothing',
    make: () =>
      changed((group) => ({
        setSize: async ({ name, size }) => {
          const { size: before } = await group.size({ name }, ctx);
          return group.setSize({ name, size: before + size }, ctx);
        },
      })),
  },
  {
    what: 'refuses a size of 0',
    failing: 'a group can be sized to 0: known, empty and running',
    make: () =>
      changed((group) => ({
        setSize: async (params) => {
          if (params.size === 0) throw new AppError('GROUP_INVALID', 'Allocation must not be blank');
          return group.setSize(params, ctx);
        },
      })),
  },
  {
    what: 'takes a size below 0 for none',
    failing: 'a size below 0 is refused',
    make: () =>
      changed((group) => ({ setSize: ({ name, size }) => group.setSize({ name, size: Math.max(0, size) }, ctx) })),
  },
  {
    what: 'makes up for members that it was told to destroy',
    failing: 'destroyInstances takes exactly the named members and lowers the target with them',
    make: () =>
      changed((group) => ({
        destroyInstances: async (params) => {
          const { size } = await group.size(params, ctx);
          const destroyed = await group.destroyInstances(params, ctx);
          await group.setSize({ name: params.name, size }, ctx);
          return destroyed;
        },
      })),
  },
  {
    what: 'destroys some members, whichever they are',
    failing: 'destroyInstances takes exactly the named members and lowers the target with them',
    make: () =>
      changed((group) => ({
        destroyInstances: async ({ name, instances }) => {
          const { size } = await group.size({ name }, ctx);
          const { after } = await group.setSize({ name, size: size - instances.length }, ctx);
          return { size: after };
        },
      })),
  },
  {
    what: 'destroys the members among the named and passes over strangers',
    failing: 'destroyInstances with one id that is no member refuses the whole call',
    make: () => changed(withoutCheck),
  },
  {
    what: 'destroys the members first and refuses the stranger then',
    failing: 'destroyInstances with one id that is no member refuses the whole call',
    make: () =>
      changed((group, machines) => ({
        destroyInstances: async ({ name, instances }) => {
          const members = instances.filter((id) => machines.members(name).includes(id));
          const done = await group.destroyInstances({ name, instances: members }, ctx);
          if (members.length < instances.length) throw new AppError('MEMBER_UNKNOWN', 'one is no member');
          return done;
        },
      })),
  },
  {
    what: 'counts ids, not members',
    failing: 'an id that is named twice counts once',
    make: () => changed(withoutCheck),
  },
  {
    what: 'lowers the target for a member that has left',
    failing: 'a repeated destroyInstances does not lower the target twice',
    make: () => changed(withoutCheck),
  },
  {
    what: 'keeps members of the old configuration',
    failing: 'a changed configuration replaces every member and keeps the size',
    make: () =>
      changed((group) => ({
        commit: async (params) => {
          const found = await group.describe({ search: { name: params.spec.metadata.name } }, ctx);
          return found.objects.length > 0 ? { object: params.spec } : group.commit(params, ctx);
        },
      })),
  },
  {
    what: 'calls everybody who left scaled',
    failing: 'a changed configuration replaces every member and keeps the size',
    make: () =>
      answering((answer) => ({
        ...answer,
        departures: answer.departures.map((departure) => ({ ...departure, Cause: 'scale' })),
      })),
  },
  {
    what: 'calls a vanished member requested',
    failing: 'a member that vanishes is replaced',
    make: () =>
      answering((answer) => ({
        ...answer,
        departures: answer.departures.map((departure) => ({
          ...departure,
          Cause: departure.Cause === 'vanished' ? 'request' : departure.Cause,
        })),
      })),
  },
  {
    what: 'leaves out logical ids',
    failing: 'a group with logical ids has one member for each, and no size to set',
    make: () =>
      answering((answer) => ({
        ...answer,
        members: answer.members.map((member) => ({ ...member, LogicalID: null })),
      })),
  },
  {
    what: 'sets the size of a group with logical ids and keeps it to itself',
    failing: 'a group with logical ids has one member for each, and no size to set',
    make: () =>
      changed((group) => ({
        setSize: ({ name, size }) => group.setSize({ name, size }, ctx).catch(() => ({ before: size, after: size })),
      })),
  },
  {
    what: 'changes the way of allocation by making the group anew',
    failing: 'the way of allocation cannot change on a living group',
    make: () =>
      changed((group) => ({
        commit: (params) =>
          group.commit(params, ctx).catch(async () => {
            await group.destroy({ name: params.spec.metadata.name }, ctx);
            return group.commit(params, ctx);
          }),
      })),
  },
  {
    what: 'answers in whole always',
    failing: 'the present digest gets "unchanged", another one the whole',
    make: () => changed((group) => ({ members: ({ digest: _, ...params }) => group.members(params, ctx) })),
  },
  {
    what: 'answers "unchanged" to every digest',
    failing: 'the present digest gets "unchanged", another one the whole',
    make: () =>
      changed((group) => ({
        members: async (params) =>
          params.digest === undefined ? group.members(params, ctx) : { kind: 'unchanged', digest: params.digest },
      })),
  },
  {
    what: 'has a digest of the members only, so that a group and its destruction look the same',
    failing: 'the destruction of an empty group is news too',
    make: () => withDigest(({ members }) => membersDigest(members)),
  },
  {
    what: 'has a digest that the target is no part of',
    failing: 'a changed target has another digest, whoever is in',
    make: () => withDigest(({ membership }) => membership.kind),
  },
  {
    what: 'has one revision for ever',
    failing: 'the revision rises with each change of the members',
    make: () =>
      answering(({ membership, ...answer }) => ({
        ...answer,
        membership: membership.kind === 'known' ? { ...membership, revision: 1 } : membership,
      })),
  },
  {
    what: 'calls everybody who left vanished',
    failing: 'who left by an act of the group departed with its cause',
    make: () =>
      answering((answer) => ({
        ...answer,
        departures: answer.departures.map((departure) => ({ ...departure, Cause: 'vanished' })),
      })),
  },
  {
    what: 'tells all departures whatever the revision',
    failing: 'departures since a revision are those after it',
    make: () => changed((group) => ({ members: ({ sinceRevision: _, ...params }) => group.members(params, ctx) })),
  },
  {
    what: 'forgets a departure at the first acknowledgement of anybody',
    failing: 'a departure stays until every registered consumer has acknowledged it',
    make: () =>
      changed((group) => ({
        registerConsumer: ({ name }) => group.registerConsumer({ name, consumer: 'one for all' }, ctx),
        acknowledge: ({ name, revision }) => group.acknowledge({ name, consumer: 'one for all', revision }, ctx),
      })),
  },
  {
    what: 'keeps departures for ever',
    failing: 'a departure stays until every registered consumer has acknowledged it',
    make: () => changed(() => ({ acknowledge: async () => ({}) })),
  },
  {
    what: 'takes any acknowledgement for one of everything',
    failing: 'an acknowledgement lets go of what is up to its revision only',
    make: () =>
      changed((group) => ({
        acknowledge: ({ name, consumer }) => group.acknowledge({ name, consumer, revision: 1_000_000 }, ctx),
      })),
  },
  {
    what: 'forgets what a consumer acknowledged when it registers again',
    failing: 'a consumer that registers again, or acknowledges less, keeps what it has acknowledged',
    make: () =>
      changed((group) => ({
        registerConsumer: async (params) => {
          await group.registerConsumer({ ...params, consumer: 'another' }, ctx);
          await group.unregisterConsumer(params, ctx);
          await group.registerConsumer(params, ctx);
          return group.unregisterConsumer({ ...params, consumer: 'another' }, ctx);
        },
      })),
  },
  {
    what: 'waits for a consumer that has gone',
    failing: 'a consumer that unregisters is not waited for',
    make: () => changed(() => ({ unregisterConsumer: async () => ({}) })),
  },
  {
    what: 'knows a freed group to be empty',
    failing: 'a freed group is unknown, and its members stay for the next commit',
    make: () =>
      answering((answer) => {
        if (answer.membership.kind === 'known') return answer;
        const membership = {
          kind: 'known',
          count: 0,
          target: 0,
          revision: 9,
          digest: 'empty',
          phase: 'running',
        } as const;
        return { ...answer, membership };
      }),
  },
  {
    what: 'takes a destroyed group for one that it never knew',
    failing: 'a destroyed group is known to be empty and destroyed, and says why all left',
    make: () =>
      changed((group) => ({
        members: async (params) => {
          await group.size(params, ctx);
          return group.members(params, ctx);
        },
      })),
  },
  {
    what: 'calls a destroyed group running',
    failing: 'a destroyed group is known to be empty and destroyed, and says why all left',
    make: () =>
      answering(({ membership, ...answer }) => ({
        ...answer,
        membership: membership.kind === 'known' ? { ...membership, phase: 'running' } : membership,
      })),
  },
  {
    what: 'stays destroyed when it is committed again',
    failing: 'a group that is committed after its destruction runs again',
    make: () => {
      const destroyed = new Set<string>();
      return changed((group) => ({
        destroy: (params) => {
          destroyed.add(params.name);
          return group.destroy(params, ctx);
        },
        commit: async (params) =>
          destroyed.has(params.spec.metadata.name) ? { object: params.spec } : group.commit(params, ctx),
      }));
    },
  },
  {
    what: 'answers for a group that nobody knows that it is empty',
    failing: 'a group that was never known is refused by every call',
    make: () => changed((group) => ({ size: (params) => group.size(params, ctx).catch(() => ({ size: 0 })) })),
  },
];
