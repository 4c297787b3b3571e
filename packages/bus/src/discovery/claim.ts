import { AppError, compareUtf8, type PluginAdvertisement, type Topics } from '@infrakit/core';
import { type After, type Log, withDeadline } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { readRetained } from '../retained/retained-read.ts';
import type { Advertising } from './advertise.ts';
import type { PluginRecord } from './plugin-record.ts';
import type { Registry } from './registry.ts';

export interface ClaimOptions {
  readonly connection: Connection;
  readonly topics: Topics;
  readonly registry: Registry;
  readonly advertising: Advertising;
  readonly plugin: string;
  readonly incarnation: string;
  /** What is said while it is not decided who gets the name. */
  readonly advertisement: PluginAdvertisement & { readonly role: 'standby' };
  readonly timeoutMs: number;
  readonly after: After;
  readonly log: Log;
}

/** Until a rival that neither takes the name nor gives it up counts as hung. */
const rivalMs = 2_000;

const claimed = (plugin: string, { process, incarnation }: PluginRecord): AppError =>
  new AppError('PLUGIN_CLAIMED', `${plugin} is run by process ${process?.pid} on ${process?.host} already`, {
    facts: { plugin, host: process?.host, pid: process?.pid, incarnation },
  });

/** Reads once more what is retained; the registry sees it too. */
const readBack = ({ connection, topics, plugin, timeoutMs, after, log }: ClaimOptions): Promise<void> => {
  const filters = [topics.filters.processes, topics.filters.plugins(plugin)];
  const what = `reading who claims ${plugin}`;
  let close = (): void => undefined;
  return withDeadline(
    () =>
      new Promise<void>((resolve) => {
        const read = readRetained(
          { connection, topics, filters, qos: 1, after, log },
          { begin: () => undefined, message: () => undefined, end: resolve },
        );
        close = read.close;
      }),
    { after, what, timeoutMs },
  ).finally(() => close());
};

/**
 * Claims the name of a plugin that has one incarnation at a time: publish, read back, the lowest nonce stays (DESIGN §3).
 * The claim is published as a standby. A claimant with a higher nonce withdraws; one with the lowest waits until the
 * others have, since one of them may have read before it and taken the name. Errors: `PLUGIN_CLAIMED` naming the host and
 * pid of who has it; then nothing is left of the claim.
 */
export const claimName = async (options: ClaimOptions): Promise<void> => {
  const { registry, advertising, plugin, incarnation, advertisement, timeoutMs, after } = options;
  const rivals = (): PluginRecord[] =>
    registry
      .incarnations(plugin)
      .filter((record) => record.incarnation !== incarnation && record.process !== undefined);
  const winner = (): PluginRecord | undefined =>
    rivals().find((rival) => rival.advertisement.role === 'active' || compareUtf8(rival.incarnation, incarnation) < 0);

  await registry.ready(timeoutMs);
  advertising.publish(advertisement);
  try {
    await advertising.settled(timeoutMs);
    await readBack(options);
    const isDecided = (): boolean => winner() !== undefined || rivals().length === 0;
    await untilChanged(registry, isDecided, after);
    const other = winner();
    if (other !== undefined) throw claimed(plugin, other);
  } catch (error) {
    await advertising.withdraw(timeoutMs).catch(() => undefined);
    throw error;
  }
};

const untilChanged = (registry: Registry, condition: () => boolean, after: After): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stop();
      subscription.unsubscribe();
      resolve();
    };
    const subscription = registry.changes.subscribe({ next: () => condition() && done(), complete: () => done() });
    const stop = after(rivalMs, done);
    if (condition()) done();
  });
