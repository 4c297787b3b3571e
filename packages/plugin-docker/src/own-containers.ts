import type Docker from 'dockerode';
import type { ContainerInfo } from 'dockerode';
import { type Marks, marksOf, ownerLabel } from './labels.ts';

/** A container of one endpoint: what the engine says of it, and what its labels say. */
export interface Own {
  readonly info: ContainerInfo;
  readonly marks: Marks;
}

/** The containers of an endpoint, those that do not run too if `all`. */
export const listOwn = async (engine: Docker, endpoint: string, all: boolean): Promise<Own[]> => {
  const found = await engine.listContainers({ all, filters: { label: [`${ownerLabel}=${endpoint}`] } });
  return found.flatMap((info) => {
    const marks = marksOf(info.Labels, endpoint);
    return marks === undefined ? [] : [{ info, marks }];
  });
};

/** A container that has ended is no instance any more: somebody else takes its place. */
export const isLiving = ({ State }: ContainerInfo): boolean =>
  !['exited', 'dead', 'removing', 'stopped'].includes(State);

/** One that is made and not started. */
export const isUnderWay = ({ State }: ContainerInfo): boolean =>
  ['created', 'configured', 'initialized'].includes(State);

/** One whose program was started and has not ended. */
export const isRunning = ({ State }: ContainerInfo): boolean => ['running', 'restarting', 'paused'].includes(State);
