import { AppError } from '@infrakit/core';
import type { AppRules } from './app-rule.ts';
import { type ManagedSpec, managedRules } from './managed-rules.ts';
import { type MirroredRulesDeps, type MirroredRulesOptions, openMirroredRules } from './mirrored-rules.ts';
import type { RestAccess } from './rest-access.ts';
import { restApp } from './rest-app.ts';
import {
  clearFiles,
  isLoopbackHost,
  type ListenFiles,
  type Listening,
  listenAt,
  type TcpPlace,
} from './rest-listen.ts';

/** Where an application is reached, and by whom. Its name is no other living process's. */
export interface RestOptions {
  readonly files: ListenFiles;
  /** Listens here instead of on its socket. */
  readonly tcp: TcpPlace | undefined;
  readonly token: string | undefined;
  readonly version: string;
}

/** What an application is started with. */
export interface EventRepeaterOptions extends MirroredRulesOptions, RestOptions {}

const accessOf = ({ tcp, token }: RestOptions): RestAccess => {
  if (token !== undefined) return { kind: 'token', token };
  if (tcp === undefined) return { kind: 'socket' };
  if (isLoopbackHost(tcp.host)) return { kind: 'loopback' };
  throw new AppError('ARGUMENT_INVALID', `listening on ${tcp.host}, beyond this machine, needs a bearer token`);
};

/** Serves rules until it is closed; `end` is what is done then, or when it cannot be served. */
const serve = async (
  rules: AppRules,
  options: RestOptions & { readonly access: RestAccess },
  end: () => Promise<void>,
): Promise<Listening> => {
  const { access, version, files, tcp } = options;
  try {
    const app = await restApp(rules, { access, version });
    const { address, close } = await listenAt(app, files, tcp);
    return {
      address,
      close: async () => {
        await close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
};

/**
 * Serves the rules of a spec that a manager keeps (GP-R14): nothing is kept here. Errors: `ARGUMENT_INVALID`, `PLUGIN_CLAIMED`
 * where somebody else listens.
 */
export const startManagedRepeater = async (options: RestOptions, spec: ManagedSpec): Promise<Listening> => {
  const access = accessOf(options);
  await clearFiles(options.files);
  return serve(managedRules(spec), { ...options, access }, async () => undefined);
};

/**
 * Starts the old application: rules that are changed by REST and kept over restarts (GP §6.3, §6.4). Errors: `ARGUMENT_INVALID`,
 * `PLUGIN_CLAIMED`, `SPEC_INVALID`, `STORE_UNAVAILABLE`.
 */
export const startEventRepeater = async (
  options: EventRepeaterOptions,
  deps: MirroredRulesDeps,
): Promise<Listening> => {
  const access = accessOf(options);
  await clearFiles(options.files);
  const rules = await openMirroredRules(options, deps);
  return serve(rules, { ...options, access }, rules.close);
};
