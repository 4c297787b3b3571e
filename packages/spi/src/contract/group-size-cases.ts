import { GroupProperties } from '@infrakit/core';
import { type ContractCase, demand, demandEqual, demandRejects, skipUnless } from './contract-case.ts';
import { type GroupSubject, withGroup } from './group-subject.ts';

const without = (ids: readonly string[], gone: readonly string[]): string[] => ids.filter((id) => !gone.includes(id));

/** Size, setSize, destroyInstances and changes of the spec. */
export const groupSizeCases: readonly ContractCase<GroupSubject>[] = [
  {
    name: 'a committed group comes to its size, and says so',
    cites: 'GP §1.7',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown }) => {
        const { membership } = await grown(3);
        demandEqual(membership.phase, 'running', 'the phase of a running group');
        demandEqual(await group.size({ name }, ctx), { size: 3 }, 'the size');
      }),
  },
  {
    name: 'growing keeps all members, shrinking takes none but the surplus',
    cites: 'GP §1.7, GP-G3',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize }) => {
        const { ids: first } = await grown(2);
        demandEqual(await group.setSize({ name, size: 4 }, ctx), { before: 2, after: 4 }, 'the answer of setSize');
        const { ids: grownIds } = await untilSize(4);
        demandEqual(without(first, grownIds), [], 'the members that a growing group lost');
        await group.setSize({ name, size: 1 }, ctx);
        const { ids: left } = await untilSize(1);
        demandEqual(without(left, grownIds), [], 'the members that a shrinking group made');
      }),
  },
  {
    name: 'size is the target at once, and the spec in force says it',
    cites: 'GP §1.5, DESIGN §5 scale',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, known }) => {
        await grown(1);
        await group.setSize({ name, size: 3 }, ctx);
        demandEqual(await group.size({ name }, ctx), { size: 3 }, 'the size right after setSize');
        demandEqual((await known()).membership.target, 3, 'the target right after setSize');
        const { spec } = await group.spec({ name }, ctx);
        const properties = GroupProperties.safeParse(spec.properties);
        demandEqual(properties.data?.Allocation.Size, 3, 'the Allocation.Size of the spec in force');
      }),
  },
  {
    name: 'setting the size again changes nothing',
    cites: 'DESIGN §3 idempotent by its parameters',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, demandSame }) => {
        const before = await grown(2);
        const answer = await group.setSize({ name, size: 2 }, ctx);
        demandEqual(answer, { before: 2, after: 2 }, 'the answer of setSize');
        await demandSame(before, 'setting the same size');
      }),
  },
  {
    name: 'a group can be sized to 0: known, empty and running',
    cites: 'GP-G6, Law 2',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize }) => {
        await grown(2);
        await group.setSize({ name, size: 0 }, ctx);
        const { membership } = await untilSize(0);
        demandEqual(membership.phase, 'running', 'the phase of a group of size 0');
        demandEqual(await group.size({ name }, ctx), { size: 0 }, 'the size');
      }),
  },
  {
    name: 'a size below 0 is refused',
    cites: 'GP §1.5',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, demandSame }) => {
        const before = await grown(1);
        const codes = ['PARAMS_INVALID', 'GROUP_INVALID'] as const;
        await demandRejects(group.setSize({ name, size: -1 }, ctx), codes, 'setting a size of -1');
        await demandSame(before, 'a refused size');
      }),
  },
  {
    name: 'destroyInstances takes exactly the named members and lowers the target with them',
    cites: 'GP-G4',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, known, settle, demandSame }) => {
        const { ids } = await grown(4);
        const victims = [ids[3] ?? '', ids[1] ?? ''];
        const { size } = await group.destroyInstances({ name, instances: victims }, ctx);
        demandEqual(size, 2, 'the size that destroyInstances answers');
        demandEqual((await known()).membership.target, 2, 'the target right after destroyInstances');
        await settle(async () => demandEqual((await known()).ids, without(ids, victims), 'the members that are left'));
        await demandSame(await known(), 'waiting for a refill');
      }),
  },
  {
    name: 'destroyInstances with one id that is no member refuses the whole call',
    cites: 'GP-G4',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, demandSame }) => {
        const before = await grown(2);
        const instances = [before.ids[0] ?? '', 'contract-no-member'];
        const call = group.destroyInstances({ name, instances }, ctx);
        await demandRejects(call, ['MEMBER_UNKNOWN'], 'destroying a member and a stranger');
        await demandSame(before, 'a refused destroyInstances');
      }),
  },
  {
    name: 'an id that is named twice counts once',
    cites: 'GP §1.5',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize }) => {
        const { ids } = await grown(3);
        const victim = ids[0] ?? '';
        const { size } = await group.destroyInstances({ name, instances: [victim, victim] }, ctx);
        demandEqual(size, 2, 'the size that destroyInstances answers');
        await untilSize(2);
      }),
  },
  {
    name: 'a repeated destroyInstances does not lower the target twice',
    cites: 'DESIGN §3 idempotent by its parameters',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, demandSame }) => {
        const { ids } = await grown(3);
        const instances = [ids[0] ?? ''];
        await group.destroyInstances({ name, instances }, ctx);
        const before = await untilSize(2);
        const again = group.destroyInstances({ name, instances }, ctx);
        await again.catch(() => demandRejects(again, ['MEMBER_UNKNOWN'], 'destroying a member that left'));
        await demandSame(before, 'a repeated destroyInstances');
      }),
  },
  {
    name: 'a changed configuration replaces every member and keeps the size',
    cites: 'GP §1.10',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ name, commit, grown, known, settle, untilDeparted }) => {
        const { ids: before } = await grown(2);
        await commit(subject.sized(name, 2, 2), 2);
        await settle(async () => {
          const { ids, membership } = await known();
          demandEqual([ids.length, membership.target], [2, 2], 'the number of members, and the target');
          demand(!ids.some((id) => before.includes(id)), 'a changed configuration must replace every member');
        });
        await untilDeparted('update', before);
      }),
  },
  {
    name: 'a member that vanishes is replaced',
    cites: 'GP §1.7',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ name, grown, known, settle, untilDeparted }) => {
        const { vanish } = subject;
        skipUnless(vanish, 'there is no way to make a member vanish');
        const { ids } = await grown(2);
        const [lost = '', kept = ''] = ids;
        await vanish(name, lost);
        await untilDeparted('vanished', [lost]);
        await settle(async () => {
          const now = (await known()).ids;
          demandEqual(
            [now.length, now.includes(kept)],
            [2, true],
            'the number of members, and whether the other stays',
          );
        });
      }),
  },
  {
    name: 'a group with logical ids has one member for each, and no size to set',
    cites: 'GP §1.5, GP §1.8',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, commit, untilSize, demandSame }) => {
        const { quorum } = subject;
        skipUnless(quorum, 'the controller has no groups with logical ids');
        await commit(quorum(name, ['10.0.0.2', '10.0.0.1']), 1);
        const before = await untilSize(2);
        const logicalIds = before.members.map(({ LogicalID }) => LogicalID).sort();
        demandEqual(logicalIds, ['10.0.0.1', '10.0.0.2'], 'the logical ids of the members');
        demandEqual(await group.size({ name }, ctx), { size: 2 }, 'the size');
        const refused = ['GROUP_INVALID'] as const;
        await demandRejects(group.setSize({ name, size: 1 }, ctx), refused, 'setting the size of such a group');
        const one = group.destroyInstances({ name, instances: before.ids.slice(0, 1) }, ctx);
        await demandRejects(one, refused, 'destroying named members of such a group');
        await demandSame(before, 'refused calls');
      }),
  },
  {
    name: 'the way of allocation cannot change on a living group',
    cites: 'GP-G5',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, demandSame }) => {
        const { quorum } = subject;
        skipUnless(quorum, 'the controller has no groups with logical ids');
        const before = await grown(2);
        const call = group.commit({ spec: quorum(name, ['a', 'b']), revision: 2 }, ctx);
        await demandRejects(call, ['GROUP_INVALID'], 'a commit from Size to LogicalIDs');
        await demandSame(before, 'a refused commit');
      }),
  },
];
