import {
  type ControllerSubject,
  controllerContract,
  type Group,
  type GroupSubject,
  groupContract,
} from '@infrakit/spi';
import { contractTests } from '../../../test/contract.ts';
import { groupWorld, quorumSpec, sizedSpec } from './group-world.ts';

/** Lets a minute of the group's own time pass during each call, so that the contract need not wait for it. */
const subject = async (): Promise<GroupSubject & AsyncDisposable> => {
  const at = groupWorld();
  await at.start();
  const real = at.group();
  const hasten =
    <P, C, R>(call: (params: P, ctx: C) => Promise<R>) =>
    (params: P, ctx: C): Promise<R> =>
      at.during(call(params, ctx), 4_000);
  const group = Object.fromEntries(
    Object.entries(real).map(([method, call]) => [method, hasten(call as Group['members'])]),
  ) as unknown as Group;
  const name = (spec: string): string[] => at.ids(spec);
  return {
    group,
    sized: sizedSpec,
    quorum: quorumSpec,
    vanish: async (_name, id) => at.world.removeBehind(id),
    spec: (rule, n) => sizedSpec(rule, n + 1, n),
    invalid: { spec: (rule) => ({ ...sizedSpec(rule, 1), properties: {} }), code: 'GROUP_INVALID' },
    unknownName: 'GROUP_NOT_FOUND',
    isEventuallyConsistent: true,
    world: {
      look: async () =>
        at.world
          .all()
          .map(({ Tags }) => JSON.stringify(Tags))
          .sort(),
      cycle: () => at.run(15_000),
      disturb: async (rule) => {
        const [id] = name(rule);
        if (id !== undefined) await at.world.removeBehind(id);
      },
      anEntry: async (rule) => name(rule)[0] ?? rule,
    },
    [Symbol.asyncDispose]: async () => {
      await at.stop();
    },
  };
};

const asController = async (): Promise<ControllerSubject & AsyncDisposable> => {
  const made = await subject();
  return { ...made, controller: made.group };
};

contractTests(groupContract, subject);
contractTests(controllerContract, asController);
