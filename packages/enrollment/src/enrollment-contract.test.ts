import { reservedTags, type Spec } from '@infrakit/core';
import { type Controller, type ControllerSubject, controllerContract, type Group } from '@infrakit/spi';
import { contractTests } from '../../../test/contract.ts';
import { cattleNfs, enrollmentWorld } from '../../../test/enrollment/world.ts';

/** A group that can be made to show fewer members than it has, without a word why. */
const hiding = (group: Group, hidden: ReadonlySet<string>): Group => ({
  ...group,
  members: async ({ digest: _, ...params }, ctx) => {
    const answer = await group.members(params, ctx);
    if (answer.kind === 'unchanged' || answer.membership.kind !== 'known') return answer;
    const members = answer.members.filter(({ ID }) => !hidden.has(ID));
    const digest = `${answer.membership.digest}-${hidden.size}`;
    return { ...answer, members, membership: { ...answer.membership, count: members.length, digest } };
  },
});

contractTests(controllerContract, async (): Promise<ControllerSubject & AsyncDisposable> => {
  const hidden = new Set<string>();
  const w = await enrollmentWorld({ aroundGroup: (group) => hiding(group, hidden) });
  const groups = new Map<string, Promise<string[]>>();
  const membersOf = (group: string): Promise<string[]> => {
    const members = groups.get(group) ?? w.makeGroup(group, 5);
    groups.set(group, members);
    return members;
  };
  const spec = (name: string, n: number): Spec => {
    void membersOf(`${name}-${n}`);
    const options = { DestroyOnTerminate: true, SyncInterval: '1s', MaxDestroyFloor: 1 };
    return cattleNfs({ name, List: `mystack/${name}-${n}`, options });
  };
  // Time passes while a call waits for its answer, and after it.
  const timely = Object.fromEntries(
    Object.entries(w.controller()).map(([method, call]) => [
      method,
      async (params: never, ctx: never) => {
        await Promise.all(groups.values());
        const answer = await w.during(call(params, ctx) as Promise<unknown>);
        await w.soon();
        return answer;
      },
    ]),
  ) as unknown as Controller;
  const own = (name: string) => w.world.all().filter(({ Tags }) => Tags?.[reservedTags.enrollmentName] === name);
  const untagged = new Map<string, number>();
  return {
    controller: timely,
    spec,
    invalid: {
      spec: (name) => ({ ...cattleNfs({ name }), properties: { Lst: [], Instance: { Plugin: 'nfs-auth/disk' } } }),
      code: 'SPEC_INVALID',
    },
    unknownName: 'RULE_NOT_FOUND',
    isEventuallyConsistent: false,
    world: {
      look: async () =>
        w.world
          .all()
          .map(({ Tags, Properties }) => JSON.stringify({ Tags, Properties }))
          .sort(),
      cycle: () => w.run(4_000),
      disturb: async (name) => w.world.removeBehind(own(name)[0]?.ID ?? ''),
      anEntry: async (name) => own(name)[0]?.ID ?? name,
      exceedBudget: async (name) => {
        const { spec: present } = await w.controller().spec({ name }, w.ctx);
        const members = await membersOf(`${name}-1`);
        for (const id of members.slice(1)) hidden.add(id);
        await w.run(4_000);
        return (await w.plan(present)).id;
      },
      addUntagged: async (name) => {
        const members = await membersOf(`${name}-1`);
        const index = untagged.get(name) ?? 0;
        untagged.set(name, index + 1);
        return w.world.addForeign({ [reservedTags.enrollmentSourceId]: members[index] ?? '' });
      },
    },
    [Symbol.asyncDispose]: async () => {
      await w.stop();
    },
  };
});
