import type { Log } from '@infrakit/spi';
import type Docker from 'dockerode';
import { isRunning, listOwn } from './own-containers.ts';
import { removeContainer } from './remove-container.ts';

/** What is cleaned up after. */
export interface CleanUpDeps {
  readonly engine: Docker;
  readonly endpoint: string;
  readonly log: Log;
  /** How long one of ours may be there without living, in ms. */
  readonly afterMs: number;
}

/** An engine that does not answer for so long is asked anew. */
const longestLookMs = 30_000;

/**
 * Removes, until it is stopped, containers of one endpoint that are no instances: made by a process that died before it could
 * start them, or ended and left by the engine. One is removed when two looks in a row, `afterMs` apart, found it so.
 */
export const cleanUp = ({ engine, endpoint, log, afterMs }: CleanUpDeps): (() => void) => {
  let suspects = new Set<string>();
  let isBusy = false;
  const look = async (): Promise<void> => {
    const dead = (await listOwn(engine, endpoint, AbortSignal.timeout(longestLookMs))).filter(
      ({ info }) => !isRunning(info),
    );
    for (const { info } of dead.filter(({ info: { Id } }) => suspects.has(Id))) {
      log.info({ id: info.Id, state: info.State }, 'a container that is no instance is removed');
      await removeContainer(engine, info.Id);
    }
    suspects = new Set(dead.map(({ info: { Id } }) => Id));
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    look()
      .catch((error: unknown) => log.debug({ err: error }, 'nothing was cleaned up'))
      .finally(() => {
        isBusy = false;
      });
  }, afterMs);
  timer.unref();
  return () => clearInterval(timer);
};
