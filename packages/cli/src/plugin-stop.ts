import { hostname } from 'node:os';
import { AppError, type ProcessPresence, suggest } from '@infrakit/core';
import { isLivingProcess, processInterface, processPlugin } from '@infrakit/host';
import type { CommandContext } from './command-context.ts';
import { exits } from './exit.ts';
import { type Session, withSession } from './session.ts';

/** Until processes that were told to stop must be gone: an ordered end takes 10 s at most. */
const goneMs = 12_000;
const lookMs = 20;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const processOf = (session: Session, name: string): string => {
  const { registry } = session;
  const record = registry.active(name) ?? registry.incarnations(name)[0];
  if (record !== undefined) return record.advertisement.process;
  const near = suggest(name, registry.plugins());
  const hint = near === undefined ? '`infrakit plugin ls` lists what runs' : `did you mean ${near}?`;
  throw new AppError('PLUGIN_UNKNOWN', `no plugin is called ${name}; ${hint}`, { facts: { name } });
};

const controlOf = ({ plugins }: Session, nonce: string) => plugins.resolve(processInterface, processPlugin(nonce));

/** Stops plugins one after the other; all must be there, else none is stopped. */
export const stopPlugins = (names: readonly string[], context: CommandContext): Promise<number> =>
  withSession(context, async (session) => {
    await session.seen();
    const found = names.map((name) => ({ name, nonce: processOf(session, name) }));
    for (const { name, nonce } of found) {
      await controlOf(session, nonce).stopPlugin({ name }, session.ctx(goneMs));
      context.streams.stderr.write(`stopped ${name}\n`);
    }
    return exits.done;
  });

type Running = readonly [nonce: string, presence: ProcessPresence];

const isGone = ({ registry }: Session, [nonce, { host, pid }]: Running): boolean =>
  host === hostname() ? !isLivingProcess(pid) : !registry.processes().has(nonce);

const stopProcesses = async (session: Session, running: readonly Running[], context: CommandContext) => {
  await Promise.all(running.map(([nonce]) => controlOf(session, nonce).stop({}, session.ctx())));
  const endMs = Date.now() + goneMs;
  for (const process of running) {
    const [, { pid, host }] = process;
    while (!isGone(session, process)) {
      if (Date.now() >= endMs) {
        throw new AppError('RPC_TIMEOUT', `process ${pid} on ${host} was told to stop, and is still there`);
      }
      await pause(lookMs);
    }
    context.streams.stderr.write(`stopped process ${pid} on ${host}\n`);
  }
};

/** Stops every process of the stack, the one with the broker last: the others say goodbye over it. */
export const stopAll = (context: CommandContext): Promise<number> =>
  withSession(context, async (session) => {
    await session.seen();
    const running: Running[] = [...session.registry.processes()];
    const isBroker = ([, { pid, host }]: Running): boolean => pid === session.brokerPid && host === hostname();
    await stopProcesses(
      session,
      running.filter((process) => !isBroker(process)),
      context,
    );
    await stopProcesses(session, running.filter(isBroker), context);
    return exits.done;
  });
