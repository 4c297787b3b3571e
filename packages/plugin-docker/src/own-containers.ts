import { AppError } from '@infrakit/core';
import type Docker from 'dockerode';
import type { ContainerInfo } from 'dockerode';
import { type Marks, marksOf, ownerLabel } from './labels.ts';

/** A container of one endpoint: what the engine says of it, and what its labels say. */
export interface Own {
  readonly info: ContainerInfo;
  readonly marks: Marks;
}

const isContainer = (value: unknown): value is ContainerInfo =>
  typeof value === 'object' && value !== null && 'Id' in value && 'State' in value;

/**
 * All containers of an endpoint, whatever their state: podman's list of those that run leaves out those that are paused. What
 * answers something else than a list of containers is no engine: `PLUGIN_UNAVAILABLE`. The signal ends the call itself, so that
 * an engine that never answers holds no connection.
 */
export const listOwn = async (engine: Docker, endpoint: string, signal: AbortSignal): Promise<Own[]> => {
  const filters = { label: [`${ownerLabel}=${endpoint}`] };
  const found: unknown = await engine.listContainers({ all: true, filters, abortSignal: signal });
  if (!Array.isArray(found) || !found.every(isContainer)) {
    throw new AppError(
      'PLUGIN_UNAVAILABLE',
      'what answers at the address of the container engine gives no list of containers',
    );
  }
  return found.flatMap((info) => {
    const marks = marksOf(info.Labels ?? {}, endpoint);
    return marks === undefined ? [] : [{ info, marks }];
  });
};

/** One whose program was started and has not ended; any other is no instance, and somebody else takes its place. */
export const isRunning = ({ State }: ContainerInfo): boolean => ['running', 'restarting', 'paused'].includes(State);
