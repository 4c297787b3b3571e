import type Docker from 'dockerode';
import { isMissing } from './engine.ts';

/** How a container ends: at once, within so many seconds, or within what it was made with. */
export type StopWithin = 'at once' | number | 'its own time';

/** How long an engine may take for a removal, beyond the time to stop: then it is tried again, by who asked or by the clean-up. */
const longestMs = 60_000;

/** Stops a container and removes it. One that is gone, or going, is no error. */
export const removeContainer = async (engine: Docker, id: string, within: StopWithin = 'at once'): Promise<void> => {
  const container = engine.getContainer(id);
  try {
    // A stop that fails leaves the work to the removal, which needs none.
    if (within !== 'at once') {
      const abortSignal = AbortSignal.timeout(longestMs + (typeof within === 'number' ? within * 1_000 : longestMs));
      await container.stop({ abortSignal, ...(typeof within === 'number' && { t: within }) }).catch(() => undefined);
    }
    await container.remove({ force: true, v: true, abortSignal: AbortSignal.timeout(longestMs) });
  } catch (error) {
    const isGoing = isMissing(error) || /removal of container .* in progress|already in progress/i.test(String(error));
    if (!isGoing) throw error;
  }
};
