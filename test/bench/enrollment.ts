import type { Group } from '@infrakit/spi';
import { cattleNfs, enrollmentWorld } from '../enrollment/world.ts';

const members = 10_000;

/** A group whose answer is made once a change, as a real one's is. */
const remembering = (group: Group): Group & { readonly forget: () => void } => {
  let last: Awaited<ReturnType<Group['members']>> | undefined;
  return {
    ...group,
    forget: () => {
      last = undefined;
    },
    members: async ({ digest, ...params }, ctx) => {
      last ??= await group.members(params, ctx);
      const isSame = last.kind === 'members' && last.membership.kind === 'known' && last.membership.digest === digest;
      return isSame && digest !== undefined ? { kind: 'unchanged', digest } : last;
    },
  };
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

/**
 * What a rule on 10,000 members costs in one process, by the clock of the machine, sink and group in memory: to enroll them
 * all, a change of ten, and one idle cycle.
 */
export const run = async (): Promise<Record<string, unknown>> => {
  let forget = (): void => undefined;
  const w = await enrollmentWorld({
    aroundGroup: (group) => {
      const remembered = remembering(group);
      forget = remembered.forget;
      return remembered;
    },
  });
  await w.makeGroup('cattle', members);
  const enrollMs = await timed(async () => {
    await w.commit(cattleNfs());
    while (w.enrolled().length < members) await w.clock.advance(100);
  });
  await w.run(20_000);
  await w.scale('cattle', members + 10);
  forget();
  const changeMs = await timed(async () => {
    w.emit('group', 'cattle/member/joined');
    await w.clock.advance(150);
  });
  const isFollowed = w.enrolled().length === members + 10;
  await w.run(20_000);
  const [described, idleCycles] = [w.describes().length, () => w.describes().length - described];
  const idleMs = await timed(() => w.run(300_000));
  const cycles = idleCycles();
  await w.stop();
  return {
    members,
    enroll_ms: Math.round(enrollMs),
    change_10_ms: Math.round(changeMs),
    is_followed: isFollowed,
    idle_cycle_ms: Number((idleMs / cycles).toFixed(3)),
    idle_cycles: cycles,
  };
};
