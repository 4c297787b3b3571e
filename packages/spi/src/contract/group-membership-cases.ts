import { type ContractCase, demand, demandEqual, demandRejects } from './contract-case.ts';
import { consumer, type GroupScene, type GroupSubject, withGroup } from './group-subject.ts';

const demandNews = async ({ answer }: GroupScene, digest: string, what: string): Promise<void> => {
  const { kind } = await answer(digest);
  demand(kind !== 'unchanged', `members must not answer "unchanged" to the digest from before ${what}`);
};

/** Members, digests, departures and the consumers that wait for them. */
export const groupMembershipCases: readonly ContractCase<GroupSubject>[] = [
  {
    name: 'the present digest gets "unchanged", another one the whole',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ grown, answer, settle }) => {
        await grown(2);
        await settle(async () => {
          const whole = await answer();
          demand(whole.kind === 'members' && whole.membership.kind === 'known', 'the membership must be known');
          const { digest } = whole.membership;
          demandEqual(await answer(digest), { kind: 'unchanged', digest }, 'the answer to the present digest');
          demandEqual(await answer(`not-${digest}`), whole, 'the answer to another digest');
        });
      }),
  },
  {
    name: 'a changed target has another digest, whoever is in',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async (scene) => {
        const { membership } = await scene.grown(2);
        await scene.group.setSize({ name: scene.name, size: 3 }, ctx);
        await demandNews(scene, membership.digest, 'a change of the target');
      }),
  },
  {
    name: 'the revision rises with each change of the members',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize }) => {
        const { membership: first } = await grown(1);
        await group.setSize({ name, size: 2 }, ctx);
        const { membership: second } = await untilSize(2);
        await group.setSize({ name, size: 1 }, ctx);
        const { membership: third } = await untilSize(1);
        const revisions = [first.revision, second.revision, third.revision];
        const isRising = second.revision > first.revision && third.revision > second.revision;
        demand(isRising, `revisions must rise with each change; they were ${revisions.join(', ')}`);
      }),
  },
  {
    name: 'who left by an act of the group departed with its cause',
    cites: 'Law 6',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, untilDeparted }) => {
        const { ids } = await grown(3);
        const victim = ids[0] ?? '';
        await group.destroyInstances({ name, instances: [victim] }, ctx);
        const { ids: left } = await untilSize(2);
        await untilDeparted('request', [victim]);
        await group.setSize({ name, size: 1 }, ctx);
        const { ids: last } = await untilSize(1);
        const scaled = left.filter((id) => !last.includes(id));
        await untilDeparted('scale', scaled);
        await untilDeparted('vanished', []);
      }),
  },
  {
    name: 'departures since a revision are those after it',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, known, untilSize, untilDeparted }) => {
        await grown(3);
        await group.setSize({ name, size: 2 }, ctx);
        const { membership: middle } = await untilSize(2);
        const early = (await known()).departures.map(({ ID }) => ID);
        await group.setSize({ name, size: 1 }, ctx);
        const { ids: last } = await untilSize(1);
        const since = (await known(middle.revision)).departures;
        demand(since.length === 1, `one member left since revision ${middle.revision}; ${since.length} are told`);
        const [late] = since;
        demand(late !== undefined && !early.includes(late.ID), 'who left before a revision must not be told since it');
        demand(!last.includes(late?.ID ?? ''), 'a member that is in must not be told as departed');
        await untilDeparted('scale', [...early, late?.ID ?? '']);
        const { membership } = await known();
        demandEqual((await known(membership.revision)).departures, [], 'the departures since the present revision');
      }),
  },
  {
    name: 'a departure stays until every registered consumer has acknowledged it',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, known, settle, untilDeparted }) => {
        const { ids } = await grown(2);
        await group.registerConsumer({ name, consumer: 'second' }, ctx);
        await group.setSize({ name, size: 1 }, ctx);
        const { ids: last, membership } = await untilSize(1);
        const left = ids.filter((id) => !last.includes(id));
        const { revision } = membership;
        await untilDeparted('scale', left);
        await group.acknowledge({ name, consumer, revision }, ctx);
        await untilDeparted('scale', left);
        await group.acknowledge({ name, consumer: 'second', revision }, ctx);
        await settle(async () => demandEqual((await known()).departures, [], 'what is left to tell'));
      }),
  },
  {
    name: 'an acknowledgement lets go of what is up to its revision only',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, known, untilDeparted }) => {
        await grown(3);
        await group.setSize({ name, size: 2 }, ctx);
        const { membership, ids: middle } = await untilSize(2);
        await group.setSize({ name, size: 1 }, ctx);
        const { ids: last } = await untilSize(1);
        const { length } = (await known()).departures;
        demandEqual(length, 2, 'the number of departures before any acknowledgement');
        await group.acknowledge({ name, consumer, revision: membership.revision }, ctx);
        await untilDeparted(
          'scale',
          middle.filter((id) => !last.includes(id)),
        );
      }),
  },
  {
    name: 'a consumer that registers again, or acknowledges less, keeps what it has acknowledged',
    cites: 'DESIGN §3 idempotent by its parameters',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, known, settle }) => {
        await grown(2);
        await group.registerConsumer({ name, consumer: 'second' }, ctx);
        await group.setSize({ name, size: 1 }, ctx);
        const { membership } = await untilSize(1);
        const { revision } = membership;
        await group.acknowledge({ name, consumer, revision }, ctx);
        await group.registerConsumer({ name, consumer }, ctx);
        await group.acknowledge({ name, consumer, revision: 0 }, ctx);
        await group.acknowledge({ name, consumer: 'second', revision }, ctx);
        await settle(async () => demandEqual((await known()).departures, [], 'what is left to tell'));
      }),
  },
  {
    name: 'a consumer that unregisters is not waited for',
    cites: 'DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, known, settle }) => {
        await grown(2);
        await group.registerConsumer({ name, consumer: 'second' }, ctx);
        await group.setSize({ name, size: 1 }, ctx);
        const { membership } = await untilSize(1);
        await group.acknowledge({ name, consumer, revision: membership.revision }, ctx);
        await group.unregisterConsumer({ name, consumer: 'second' }, ctx);
        await group.unregisterConsumer({ name, consumer: 'second' }, ctx);
        await settle(async () => demandEqual((await known()).departures, [], 'what is left to tell'));
      }),
  },
  {
    name: 'a freed group is unknown, and its members stay for the next commit',
    cites: 'Law 1, DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async (scene) => {
        const { group, name, commit, grown, answer, settle, known } = scene;
        const { ids, membership } = await grown(2);
        await group.free({ name }, ctx);
        await demandNews(scene, membership.digest, 'a free');
        const freed = await answer();
        const kind = freed.kind === 'members' ? freed.membership.kind : freed.kind;
        demandEqual(kind, 'unknown', 'the membership of a freed group');
        await commit(subject.sized(name, 2, 1), 1);
        await settle(async () => demandEqual((await known()).ids, ids, 'the members after free and a commit'));
      }),
  },
  {
    name: 'a destroyed group is known to be empty and destroyed, and says why all left',
    cites: 'Law 2, DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, grown, untilSize, untilDeparted }) => {
        const { ids } = await grown(2);
        await group.destroy({ name }, ctx);
        const { membership } = await untilSize(0);
        demandEqual(membership.phase, 'destroyed', 'the phase of a destroyed group');
        await untilDeparted('destroy', ids);
        await group.destroy({ name }, ctx);
        await untilSize(0);
      }),
  },
  {
    name: 'the destruction of an empty group is news too',
    cites: 'Law 2, DESIGN §3 Membership',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async (scene) => {
        const { membership } = await scene.grown(0);
        await scene.group.destroy({ name: scene.name }, ctx);
        await demandNews(scene, membership.digest, 'the destruction');
      }),
  },
  {
    name: 'a group that is committed after its destruction runs again',
    cites: 'EI-C1',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name, commit, grown, untilSize }) => {
        const { ids: before } = await grown(2);
        await group.destroy({ name }, ctx);
        await untilSize(0);
        await commit(subject.sized(name, 1, 1), 2);
        const { membership, ids } = await untilSize(1);
        demandEqual(membership.phase, 'running', 'the phase of a group that was committed again');
        demand(!ids.some((id) => before.includes(id)), 'a member that was destroyed must not come back');
      }),
  },
  {
    name: 'a group that was never known is refused by every call',
    cites: 'GP §1.5',
    run: (subject, ctx) =>
      withGroup(subject, ctx, async ({ group, name }) => {
        const calls: [string, Promise<unknown>][] = [
          ['members', group.members({ name }, ctx)],
          ['size', group.size({ name }, ctx)],
          ['setSize', group.setSize({ name, size: 1 }, ctx)],
          ['destroyInstances', group.destroyInstances({ name, instances: ['any'] }, ctx)],
          ['update', group.update({ name, verb: 'pause' }, ctx)],
          ['registerConsumer', group.registerConsumer({ name, consumer }, ctx)],
          ['acknowledge', group.acknowledge({ name, consumer, revision: 1 }, ctx)],
          ['unregisterConsumer', group.unregisterConsumer({ name, consumer }, ctx)],
        ];
        const refusals = calls.map(([what, call]) =>
          demandRejects(call, ['GROUP_NOT_FOUND'], `${what} of a group that was never known`),
        );
        await Promise.all(refusals);
      }),
  },
];
