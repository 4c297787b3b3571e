import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator, eventually, type Operator } from './operator.ts';
import { cattle, cattleNfs, miners, plugins } from './specs.ts';

/** A stack that runs in this process, in a home of its own, and somebody who commands it. */
export interface Stack extends AsyncDisposable {
  readonly home: string;
  readonly operator: Operator;
  readonly port: number;
}

/** Starts one with nothing committed. */
export const startStack = async (): Promise<Stack> => {
  const home = await temporaryHome();
  const host = await startHere(plugins, { home: home.path });
  const operator = await connectOperator(await brokerOf(home.path));
  return {
    home: home.path,
    operator,
    port: Number(new URL(host.url ?? '').port),
    [Symbol.asyncDispose]: async () => {
      await operator[Symbol.asyncDispose]();
      await host.stop();
      await home[Symbol.asyncDispose]();
    },
  };
};

/** Waits until a group has so many members; gives their ids. */
export const hasMembers = (operator: Operator, group: string, count: number): Promise<string[]> =>
  eventually(`${count} members of ${group}`, 10_000, async () => {
    const members = await operator.members(group);
    return members.length === count ? members : undefined;
  });

/** Waits until the sink holds exactly the members of cattle, so many, each once; gives their ids. */
export const follows = (operator: Operator, count: number, timeoutMs = 10_000): Promise<string[]> =>
  eventually(`${count} cattle, each authorised once`, timeoutMs, async () => {
    const [members, enrolled] = [await operator.members('cattle'), await operator.enrolled()];
    return members.length === count && members.join() === enrolled.join() ? members : undefined;
  });

/** The main job: 5 miners, 10 cattle, and an authorisation for each of the cattle. */
export const mainJob = async (operator: Operator): Promise<void> => {
  await operator.commit(miners());
  await operator.commit(cattle());
  await operator.commit(cattleNfs());
  await hasMembers(operator, 'miners', 5);
  await follows(operator, 10);
};
