import type Docker from 'dockerode';
import { isMissing } from './engine.ts';

/** How a container ends: at once, within so many seconds, or within what it was made with. */
export type StopWithin = 'at once' | number | 'its own time';

/** Stops a container and removes it. One that is gone, or going, is no error. */
export const removeContainer = async (engine: Docker, id: string, within: StopWithin = 'at once'): Promise<void> => {
  const container = engine.getContainer(id);
  try {
    // A stop that fails leaves the work to the removal, which needs none.
    if (within !== 'at once') {
      await container.stop(typeof within === 'number' ? { t: within } : {}).catch(() => undefined);
    }
    await container.remove({ force: true, v: true });
  } catch (error) {
    const isGoing = isMissing(error) || /removal of container .* in progress|already in progress/i.test(String(error));
    if (!isGoing) throw error;
  }
};
