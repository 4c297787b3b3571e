import type { Log } from '@infrakit/spi';
import type Docker from 'dockerode';
import { engineError } from './engine.ts';
import { jsonLines } from './json-lines.ts';
import { ownerLabel } from './labels.ts';

/** Something happened to a container of ours; or, with no id, the engine can be followed from now on. */
export interface EngineChange {
  readonly id: string;
  readonly what: string;
}

/** From a loss of the engine to the next try. */
const againMs = 1_000;

/** Health checks run programs in containers all the time; that changes nothing that is described. */
const isChange = (what: string): boolean => !what.startsWith('exec');

/**
 * Follows the engine's events of one endpoint's containers until it is stopped, through losses of the engine. What was
 * missed meanwhile is not told: {@link EngineChange} without an id says to look at everything.
 */
export const followEngine = (
  { engine, endpoint, log }: { readonly engine: Docker; readonly endpoint: string; readonly log: Log },
  told: (change: EngineChange) => void,
): (() => void) => {
  const ended = new AbortController();
  const { signal } = ended;
  let timer: NodeJS.Timeout | undefined;
  let wake = (): void => undefined;

  const follow = async (): Promise<void> => {
    const filters = { type: ['container' as const], label: [`${ownerLabel}=${endpoint}`] };
    const options = { filters, abortSignal: signal };
    const stream = await engine.getEvents(options);
    told({ id: '', what: 'connected' });
    for await (const { Action, status, id, Actor } of jsonLines(stream)) {
      const what = String(Action ?? status ?? '');
      const actor = (Actor as { ID?: unknown } | undefined)?.ID;
      if (isChange(what)) told({ id: String(actor ?? id ?? ''), what });
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!signal.aborted) log.debug({ error: engineError('events', error).message }, 'events are not followed');
      });
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, againMs);
      });
    }
  };
  void run();
  return () => {
    ended.abort();
    clearTimeout(timer);
    wake();
  };
};
