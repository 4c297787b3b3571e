import { AppError } from '@infrakit/core';
import { type MirroredRulesDeps, type MirroredRulesOptions, openMirroredRules } from './mirrored-rules.ts';
import type { RestAccess } from './rest-access.ts';
import { restApp } from './rest-app.ts';
import {
  claimFiles,
  isLoopbackHost,
  type ListenFiles,
  type Listening,
  listenAt,
  type TcpPlace,
} from './rest-listen.ts';

/** What an application is started with. */
export interface EventRepeaterOptions extends MirroredRulesOptions {
  readonly files: ListenFiles;
  /** Listens here instead of on its socket. */
  readonly tcp: TcpPlace | undefined;
  readonly token: string | undefined;
  readonly version: string;
}

const accessOf = ({ tcp, token }: EventRepeaterOptions): RestAccess => {
  if (token !== undefined) return { kind: 'token', token };
  if (tcp === undefined) return { kind: 'socket' };
  if (isLoopbackHost(tcp.host)) return { kind: 'loopback' };
  throw new AppError('ARGUMENT_INVALID', `listening on ${tcp.host}, beyond this machine, needs a bearer token`);
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
  await claimFiles(options.files);
  const rules = await openMirroredRules(options, deps);
  try {
    const app = await restApp(rules, { access, version: options.version });
    const { address, close } = await listenAt(app, options.files, options.tcp);
    return {
      address,
      close: async () => {
        await close();
        await rules.close();
      },
    };
  } catch (error) {
    await rules.close();
    throw error;
  }
};
