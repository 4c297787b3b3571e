import type Docker from 'dockerode';
import { isMissing } from './engine.ts';

/** Stops a container, within `stopSeconds` or by force at once, and removes it. One that is gone, or going, is no error. */
export const removeContainer = async (engine: Docker, id: string, stopSeconds?: number): Promise<void> => {
  const container = engine.getContainer(id);
  try {
    // A stop that fails leaves the work to the removal, which needs none.
    if (stopSeconds !== undefined) await container.stop({ t: stopSeconds }).catch(() => undefined);
    await container.remove({ force: true, v: true });
  } catch (error) {
    const isGoing = isMissing(error) || /removal of container .* in progress|already in progress/i.test(String(error));
    if (!isGoing) throw error;
  }
};
