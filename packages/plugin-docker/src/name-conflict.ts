import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@infrakit/core';
import type Docker from 'dockerode';
import { marksOf, nameOf } from './labels.ts';
import { isRunning } from './own-containers.ts';
import { removeContainer } from './remove-container.ts';

/** Whose name is taken. */
export interface NameConflict {
  readonly engine: Docker;
  readonly endpoint: string;
  readonly key: string;
  readonly signal: AbortSignal;
}

/** How long another process may take from the name of a container to its start, in ms. */
const patienceMs = 3_000;
const lookMs = 100;

/** Whether the engine says that a name is taken. */
export const isNameTaken = (error: unknown): boolean => /already in use/i.test(String(error));

/**
 * The living container of a key whose name was taken; undefined when the name is free again. Another process may be making it;
 * one that does not come to life makes room, as does what an engine that was killed in the middle of a create left in its
 * storage, which no list shows and which would hold the name for ever. Errors: `INSTANCE_FAILED` when the name is somebody else's.
 */
export const resolveNameConflict = async (conflict: NameConflict): Promise<string | undefined> => {
  const { engine, endpoint, key, signal } = conflict;
  const name = nameOf(endpoint, key);
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const named = (await engine.listContainers({ all: true, filters: { name: [name] }, abortSignal: signal })).filter(
      ({ Names }) => Names.includes(`/${name}`),
    );
    const foreign = named.find(({ Labels }) => marksOf(Labels ?? {}, endpoint)?.key !== key);
    if (foreign !== undefined) {
      const sentence = `the name ${name} is taken by container ${foreign.Id}, which is not ours: remove or rename it`;
      throw new AppError('INSTANCE_FAILED', sentence, { facts: { id: foreign.Id } });
    }
    const living = named.find(isRunning);
    if (living !== undefined) return living.Id;
    if (performance.now() >= endMs) {
      await removeContainer(engine, name);
      return undefined;
    }
    await delay(lookMs, undefined, { signal });
  }
};
