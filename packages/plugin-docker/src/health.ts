import { mapBounded } from '@infrakit/runtime';
import type Docker from 'dockerode';
import { isMissing } from './engine.ts';
import type { Own } from './own-containers.ts';

/** So many containers are asked about at once. */
const asksAtOnce = 8;

/** The health of a container that went away after it was listed. */
export const gone = 'gone';

const inStatus = /\((healthy|unhealthy|health: starting)\)/;

const hasCheck = ({ marks: { properties } }: Own): boolean =>
  typeof properties === 'object' && properties !== null && 'HealthCheck' in properties;

/** The word of podman about one container's health. */
const statusOf = async (engine: Docker, id: string, signal: AbortSignal): Promise<string | undefined> => {
  try {
    return (await engine.getContainer(id).inspect({ abortSignal: signal })).State.Health?.Status;
  } catch (error) {
    if (isMissing(error)) return gone;
    throw error;
  }
};

/**
 * The health of containers, by id; nothing of one that has no check. Docker's list says it in `Status`; podman's does not, and
 * is asked about each that was made with a check. One that is gone by then has the health `gone`.
 */
export const healthOf = async (
  engine: Docker,
  containers: readonly Own[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> => {
  const health = new Map<string, string>();
  const silent: string[] = [];
  for (const own of containers) {
    const { Id, Status } = own.info;
    const told = inStatus.exec(Status ?? '')?.[1];
    if (told !== undefined) health.set(Id, told);
    else if (hasCheck(own)) silent.push(Id);
  }
  await mapBounded(silent, asksAtOnce, async (id) => {
    const word = await statusOf(engine, id, signal);
    if (word !== undefined && word !== '' && word !== 'none')
      health.set(id, word.replace(/^starting$/, 'health: starting'));
  });
  return health;
};
