import { AppError } from '@infrakit/core';
import type { EndpointDeps } from '../link/endpoint.ts';
import { type Flow, flowsOf } from '../wire/flow.ts';
import { Mirror } from './mirror.ts';

/** Properties that were found good. */
export interface ParsedMirror {
  readonly mirror: Mirror;
  readonly flows: readonly Flow[];
}

/**
 * Reads the properties of a mirror. `INSTANCE_INVALID` names every fault at once and repeats no value, since it may be a
 * secret in the wrong place.
 */
export const parseMirror = (properties: unknown, deps: EndpointDeps): ParsedMirror => {
  const read = Mirror.safeParse(properties);
  const faults: string[] = [];
  if (read.success) {
    const { flows, faults: found } = flowsOf(read.data, deps);
    if (found.length === 0) return { mirror: read.data, flows };
    faults.push(...found);
  } else {
    for (const { path, message } of read.error.issues)
      faults.push([path.join('.'), message].filter(Boolean).join(': '));
  }
  throw new AppError('INSTANCE_INVALID', faults.join('\n'), { facts: { faults } });
};
