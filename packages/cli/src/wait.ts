import { AppError, parseDuration, type SpecObject } from '@infrakit/core';
import { controllerInterface } from '@infrakit/spi';
import type { Command } from 'commander';
import { exits } from './exit.ts';
import { type GroupStatus, itemsOf, type RuleItem } from './rule-state.ts';
import type { VerbCall } from './verb.ts';

/** Options of verbs that change something (DESIGN §6). */
export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout: string;
}

/** Adds `--wait` and `--timeout`. */
export const addWaitOptions = (command: Command): Command =>
  command
    .option('--wait', 'wait until it has converged; the default on a terminal')
    .option('--no-wait', 'do not wait')
    .option('--timeout <duration>', 'how long to wait', '60s');

/** How far a rule is. */
type Progress =
  | { readonly kind: 'converged' }
  | { readonly kind: 'working'; readonly what: string }
  | { readonly kind: 'stuck'; readonly what: string };

const pollMs = 100;

const ofItems = (items: readonly RuleItem[]): Progress => {
  const open = items.filter(({ State }) => State === 'pending' || State === 'removing' || State === 'error');
  const held = open.find(({ Data }) => Data?.held !== undefined);
  if (held !== undefined) return { kind: 'stuck', what: `held: ${held.Data?.held}` };
  const [first] = open;
  if (first === undefined) return { kind: 'converged' };
  return { kind: 'working', what: `${open.length} left, first ${first.Key} ${first.State}` };
};

const progressOf = ({ state }: SpecObject): Progress => {
  const items = itemsOf(state);
  if (items !== undefined) return ofItems(items);
  const { Converged, Reason } = (state ?? {}) as GroupStatus;
  return Converged === true ? { kind: 'converged' } : { kind: 'working', what: Reason ?? 'not looked at yet' };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Waits until a rule is as its spec wants it, telling of the progress on stderr; exit 0 then, 2 when it is held, 3 when the
 * time is up and the work goes on (DESIGN §6).
 */
const waitConverged = async (call: VerbCall<WaitOptions>, name: string): Promise<number> => {
  const { session, object, options, note, signal } = call;
  const controller = session.plugins.resolve(controllerInterface, object.name);
  const endMs = Date.now() + parseDuration(options.timeout);
  let told = '';
  // The change itself is on its way: what was there before it must not count as done.
  await pause(pollMs);
  while (!signal.aborted) {
    const { objects } = await controller.describe({ search: { name } }, session.ctx());
    const [found] = objects;
    if (found === undefined) throw new AppError('RULE_NOT_FOUND', `${object.name} has nothing called ${name}`);
    const progress = progressOf(found);
    if (progress.kind === 'converged') return exits.done;
    if (progress.what !== told) note(`${name}: ${progress.what}`);
    told = progress.what;
    if (progress.kind === 'stuck') return exits.held;
    if (Date.now() >= endMs) {
      note(`${name} has not converged within ${options.timeout}; the work goes on`);
      return exits.pending;
    }
    await pause(pollMs);
  }
  return exits.pending;
};

/** Waits for convergence where that is asked for, or stdout is a terminal; gives the exit code. */
export const waitIfWanted = async (call: VerbCall<WaitOptions>, name: string): Promise<number> => {
  const isWanted = call.options.wait ?? call.streams.stdout.isTTY === true;
  return isWanted ? waitConverged(call, name) : exits.done;
};
