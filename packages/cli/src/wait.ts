import { AppError, errorTable, parseDuration, toAppError } from '@infrakit/core';
import { type CallContext, controllerInterface, type RuleProgress } from '@infrakit/spi';
import type { Command } from 'commander';
import { exits, usageError } from './exit.ts';
import { heldSentence } from './rule-state.ts';
import type { VerbCall } from './verb.ts';

/** Options of verbs that change something (DESIGN §6). */
export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout: string;
}

/** A duration of `--timeout`, read before anything is done, and not when the wait begins: what is bad changes nothing. */
export const checkedDuration = (text: string): string => {
  try {
    if (parseDuration(text) >= 0) return text;
  } catch (thrown) {
    throw usageError(`--timeout: ${toAppError(thrown).message}`);
  }
  throw usageError(`--timeout: ${text} is negative`);
};

/** Adds `--wait` and `--timeout`; `what` is waited for. */
export const addWaitOptions = (command: Command, what = 'it has converged'): Command =>
  command
    .option('--wait', `wait until ${what}; the default on a terminal`)
    .option('--no-wait', 'do not wait')
    .option('--timeout <duration>', 'how long to wait', checkedDuration, '60s');

const pollMs = 100;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isWaitWanted = ({ options, streams }: VerbCall<WaitOptions>): boolean =>
  options.wait ?? streams.stdout.isTTY === true;

/** A plugin that is away for a moment does not end a wait. */
const isPassing = ({ code }: AppError): boolean => errorTable[code].retry !== 'never';

/** How far a rule is; null when there is none of that name. */
const progressOf = async (
  { session, object }: VerbCall<unknown>,
  name: string,
  leftMs: number,
): Promise<RuleProgress | null> => {
  try {
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const { statuses } = await controller.status({ search: { name } }, session.ctx(Math.max(pollMs, leftMs)));
    return statuses[0]?.progress ?? null;
  } catch (thrown) {
    const error = toAppError(thrown);
    if (!isPassing(error)) throw error;
    return { kind: 'working', reason: error.message };
  }
};

/** Writes each sentence once, for as long as it stays the same. */
const newsOnly = (note: (sentence: string) => void): ((sentence: string) => void) => {
  let told = '';
  return (sentence) => {
    if (sentence !== told) note(sentence);
    told = sentence;
  };
};

/**
 * Waits until a rule is as its spec wants it, telling of the progress on stderr; exit 0 then, 2 when it is held or quarantined, 3
 * when the time is up and the work goes on (DESIGN §6). A controller counts nothing from before the command that was answered.
 */
const waitConverged = async (call: VerbCall<WaitOptions>, name: string): Promise<number> => {
  const { object, options, note, signal } = call;
  const endMs = Date.now() + parseDuration(options.timeout);
  const tell = newsOnly(note);
  while (!signal.aborted) {
    const progress = await progressOf(call, name, endMs - Date.now());
    switch (progress?.kind) {
      case undefined:
        throw new AppError('RULE_NOT_FOUND', `${object.name} has nothing called ${name}`);
      case 'converged':
        return exits.done;
      case 'held':
        tell(heldSentence(object, name, progress));
        return exits.held;
      case 'quarantined':
        tell(`${name}: ${progress.reason}`);
        return exits.held;
      case 'working':
        tell(`${name}: ${progress.reason}`);
        break;
      default:
        return progress satisfies never;
    }
    if (Date.now() >= endMs) {
      note(`${name} has not converged within ${options.timeout}; the work goes on`);
      return exits.pending;
    }
    await pause(pollMs);
  }
  return exits.pending;
};

/** Waits for convergence where that is asked for, or stdout is a terminal; gives the exit code. */
export const waitIfWanted = async (call: VerbCall<WaitOptions>, name: string): Promise<number> =>
  isWaitWanted(call) ? waitConverged(call, name) : exits.done;

const isMissing = ({ code }: AppError): boolean =>
  code === 'RULE_NOT_FOUND' || code === 'GROUP_NOT_FOUND' || code === 'OBJECT_UNKNOWN';

/** What a destroy answers: what it left downstream, and why, where it left something. */
interface Destroyed {
  readonly left?: string | undefined;
}

type DestroyCall = (ctx: CallContext) => Promise<Destroyed>;

/** Asks until it is answered: a destroy may be asked for again, and what a first one has brought to its end is gone then. */
const destroyUntil = async (destroy: DestroyCall, call: VerbCall<unknown>, endMs: number): Promise<Destroyed> => {
  let isBegun = false;
  for (;;) {
    try {
      return await destroy(call.session.ctx(Math.max(pollMs, endMs - Date.now())));
    } catch (thrown) {
      const error = toAppError(thrown);
      if (isBegun && isMissing(error)) return {};
      if (!isPassing(error) || Date.now() >= endMs || (!isBegun && isMissing(error))) throw error;
      isBegun = true;
      await pause(pollMs);
    }
  }
};

/**
 * Destroys, which answers when what is ours downstream is gone, or says what it left (told on stderr); gives the exit code. Without a wait a call's own deadline is all
 * the time that it has; with one it has the time of the wait, and the progress is told.
 */
export const destroyAndWait = async (
  call: VerbCall<WaitOptions>,
  name: string,
  destroy: DestroyCall,
): Promise<number> => {
  const done = ({ left }: Destroyed): number => {
    if (left !== undefined) call.note(`${name}: ${left}`);
    return exits.done;
  };
  const { session, options, note } = call;
  if (!isWaitWanted(call)) {
    return done(await destroy(session.ctx()));
  }
  const endMs = Date.now() + parseDuration(options.timeout);
  const tell = newsOnly(note);
  let isOver = false;
  const watch = async (): Promise<void> => {
    await pause(pollMs);
    while (!isOver) {
      const progress = await progressOf(call, name, endMs - Date.now());
      if (!isOver && progress !== null && progress.kind !== 'converged') tell(`${name}: ${progress.reason}`);
      await pause(pollMs);
    }
  };
  const watching = watch().catch(() => undefined);
  try {
    return done(await destroyUntil(destroy, call, endMs));
  } catch (thrown) {
    const { code } = toAppError(thrown);
    if (code !== 'RPC_TIMEOUT' && code !== 'COMMIT_PENDING') throw thrown;
    note(`${name} is not gone within ${options.timeout}; the work goes on`);
    return exits.pending;
  } finally {
    isOver = true;
    await watching;
  }
};
