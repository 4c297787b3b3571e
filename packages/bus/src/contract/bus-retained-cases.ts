import { Member, StatePayload } from '@infrakit/core';
import { type ContractCase, demand, demandEqual, type ObjectState } from '@infrakit/spi';
import type { PluginRole } from '../discovery/advertise.ts';
import { type BusSubject, callLamp, lamp, sceneTopics, withBusScene } from './bus-scene.ts';

const member = (ID: string): Member => ({
  ID,
  LogicalID: null,
  Tags: { a: 'b' },
  Health: 'healthy',
  Address: '10.0.0.1',
});
const members = (count: number): Member[] => Array.from({ length: count }, (_, n) => member(`i-${n}`));
const state = (revision: number): ObjectState => ({
  kind: 'group',
  revision,
  specHash: 'h',
  conditions: [],
  counts: { members: 3 },
  digest: 'd',
});
const objects = [lamp('', 'x')];
const single = { isSingle: true, objects: () => objects };

const memberFilter = sceneTopics.filters.members();
const stateFilter = sceneTopics.filters.states();
const wholeMs = 5_000;

/** Demands on what is retained: it is what it should be, in each session. */
export const retainedCases: readonly ContractCase<BusSubject>[] = [
  {
    name: 'a broker that lost its memory is whole again within 5 s: process, plugin, state and members',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained, connect, until }) => {
        const [server, client] = [await process('n1'), await process('n2')];
        const { state: states, members: groups } = await server.start('group', single);
        states.publish('cattle', state(1));
        groups.publish('cattle', members(50));
        const observer = await connect('observer');
        const seen = new Set<string>();
        observer.subscribe('infrakit/#', 0, ({ topic, payload }) => payload.length > 0 && seen.add(topic));
        const isWhole = (): boolean => seen.size >= 54;
        await until(isWhole, 'all must be published');
        const before = await retained('infrakit/#');
        await subject.stop();
        seen.clear();
        await subject.start();
        await until(isWhole, 'all must be there again', wholeMs);
        demandEqual(Object.fromEntries(await retained('infrakit/#')), Object.fromEntries(before), 'what is retained');
        await client.sees('group');
        demandEqual(await callLamp(client.plugins, 'group', 'look', ctx), 'x', 'the answer of a call');
      }),
  },
  {
    name: 'members that leave are cleared, those that stay are not published again; no more of them than a member has',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained, connect, listen, until }) => {
        const server = await process('n1');
        const { members: groups } = await server.start('group', single);
        const box = await listen(await connect('observer'), memberFilter);
        const secret = { ...member('i/+#1'), Properties: { password: 'x' } };
        groups.publish('a b', [secret, member('i-2'), member('i-3')]);
        await until(() => box.messages.length >= 3, 'the members must be published');
        demandEqual(box.messages.length, 3, 'what is published');
        groups.publish('a b', [{ ...secret }, member('i-3'), member('i-4')]);
        await until(() => box.messages.length >= 5, 'the change must be published');
        const now = await retained(memberFilter);
        demandEqual(box.messages.length, 5, 'what is published');
        const ids = ['i/+#1', 'i-3', 'i-4'];
        demandEqual(
          [...now.keys()].sort(),
          ids.map((id) => sceneTopics.member('group', 'a b', id)),
          'the topics',
        );
        for (const text of now.values())
          demand(Member.safeParse(JSON.parse(text)).success, 'a member must be a member');
        groups.clear('a b');
        await until(() => box.messages.length >= 8, 'the group must be cleared');
        demandEqual((await retained(memberFilter)).size, 0, 'what is retained');
      }),
  },
  {
    name: 'members that an earlier incarnation left are cleared once their group is known, others stay',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained, until, connect, listen }) => {
        const first = await process('n1');
        const before = await first.start('group', single);
        before.members.publish('cattle', [member('i-1'), member('i-2')]);
        before.members.publish('pets', [member('p-1')]);
        const box = await listen(await connect('observer'), memberFilter);
        await until(() => box.messages.length >= 3, 'the members must be published');
        first.crash();
        const second = await process('n2');
        const after = await second.start('group', single);
        after.members.publish('cattle', [member('i-2'), member('i-3')]);
        const cleared = sceneTopics.member('group', 'cattle', 'i-1');
        await until(
          () => box.messages.some(({ topic, payload }) => topic === cleared && payload.length === 0),
          'who left must be cleared',
        );
        await until(() => box.messages.some(({ topic }) => topic.endsWith('i-3')), 'who came must be published');
        const ids = [...(await retained(memberFilter)).keys()].sort();
        demandEqual(
          ids,
          ['cattle/i-2', 'cattle/i-3', 'pets/p-1'].map((id) => `infrakit/members/group/${id}`),
          'who is in',
        );
      }),
  },
  {
    name: 'a burst of states is published as its last, with incarnation, sequence and term',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, connect, listen, until }) => {
        const server = await process('n1');
        const { state: states } = await server.start('group', { ...single, role: () => ({ role: 'active', term: 7 }) });
        const box = await listen(await connect('observer'), stateFilter);
        for (let n = 1; n <= 100; n += 1) states.publish('cattle', { ...state(n), ...{ rows: ['secret'] } });
        await until(() => box.messages.length >= 1, 'the state must be published');
        for (let n = 101; n <= 200; n += 1) states.publish('cattle', state(n));
        await until(() => box.messages.length >= 2, 'the second burst must be published');
        const read = box.texts().map((text) => StatePayload.parse(JSON.parse(text)));
        demandEqual(
          read.map(({ revision, incarnation, seq, term }) => [revision, incarnation, seq, term]),
          [
            [100, 'n1.1', 1, 7],
            [200, 'n1.1', 2, 7],
          ],
          'what is published',
        );
      }),
  },
  {
    name: 'a standby publishes nothing of its own, and what it knows when it comes to lead',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, retained, until, connect, listen }) => {
        const [leader, standby] = [await process('n1'), await process('n2')];
        let role: PluginRole = { role: 'standby' };
        const led = await leader.start('group', { ...single, role: () => ({ role: 'active', term: 1 }) });
        const stood = await standby.start('group', { ...single, role: () => role });
        const box = await listen(await connect('observer'), stateFilter);
        stood.state.publish('cattle', state(9));
        stood.members.publish('cattle', [member('i-9')]);
        led.members.publish('cattle', [member('i-1')]);
        led.state.publish('cattle', state(1));
        await until(() => box.messages.length >= 1, 'the leader must publish');
        const revision = async (): Promise<unknown> =>
          JSON.parse([...(await retained(stateFilter)).values()][0] ?? '{}').revision;
        demandEqual(await revision(), 1, 'the revision while the first leads');
        leader.crash();
        role = { role: 'active', term: 2 };
        stood.objectsChanged();
        await until(() => box.messages.length >= 2, 'the new leader must publish');
        demandEqual(await revision(), 9, 'the revision when the second leads');
        const gone = sceneTopics.member('group', 'cattle', 'i-1');
        let isGone = false;
        for (let n = 0; n < 100 && !isGone; n += 1) isGone = !(await retained(memberFilter)).has(gone);
        demand(isGone, 'the member that the new leader does not know must be cleared');
      }),
  },
  {
    name: 'ten thousand members are published, and published again to a broker that lost them',
    cites: 'DESIGN §3',
    run: (subject, ctx) =>
      withBusScene(subject, ctx, async ({ process, connect, until }) => {
        const server = await process('n1');
        const { members: groups } = await server.start('group', single);
        const seen = new Set<string>();
        const observer = await connect('observer');
        observer.subscribe(memberFilter, 0, ({ topic }) => seen.add(topic));
        groups.publish('cattle', members(10_000));
        await until(() => seen.size === 10_000, 'all must be published', 15_000);
        await subject.stop();
        seen.clear();
        await subject.start();
        await until(() => seen.size === 10_000, 'all must be published again', wholeMs);
      }),
  },
];
