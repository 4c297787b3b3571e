import type { EventRepeaterOptions, RestOptions } from './rest/event-repeater.ts';
import type { ManagedSpec } from './rest/managed-rules.ts';
import type { MirroredRulesDeps } from './rest/mirrored-rules.ts';
import type { Listening } from './rest/rest-listen.ts';

export { pluginOf } from './link/endpoint.ts';
export { type ListenFiles, parseListen, recordedPlace, type TcpPlace } from './rest/rest-listen.ts';
export type { EventRepeaterOptions, Listening, ManagedSpec, MirroredRulesDeps };

/** Starts the old application; what HTTP needs is loaded only then. Errors: see `startEventRepeater`. */
export const runEventRepeater = async (options: EventRepeaterOptions, deps: MirroredRulesDeps): Promise<Listening> =>
  (await import('./rest/event-repeater.ts')).startEventRepeater(options, deps);

/** Serves the rules of a spec that a manager keeps. Errors: see `startManagedRepeater`. */
export const runManagedRepeater = async (options: RestOptions, spec: ManagedSpec): Promise<Listening> =>
  (await import('./rest/event-repeater.ts')).startManagedRepeater(options, spec);
