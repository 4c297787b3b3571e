import { resolve } from 'node:path';
import { type WorkerPool, workerPool } from '@infrakit/runtime';
import {
  type After,
  type CallContext,
  type Fencing,
  fencingTerms,
  type Instance,
  type Journal,
  type Log,
  testingContext,
} from '@infrakit/spi';
import type { ExecOptions } from './exec-options.ts';
import { badAnswer, programAnswer } from './program-answer.ts';
import { listingMemory, programListing } from './program-listing.ts';
import { requestLine, requestVariables } from './request.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';

export interface ExecDeps {
  readonly after: After;
  readonly log: Log;
  /** Where the program may keep what it must know; null when nothing is kept. */
  readonly stateDir: string | null;
  /** A variable of the host's environment. */
  readonly variable: (name: string) => string | undefined;
  /** Terms that were seen are kept here over a restart. */
  readonly journal: Journal;
}

/** A program as instances. */
export interface ExecInstance {
  readonly instance: Instance;
  /** Runs the program with any verb and no parameters; how it ended is not judged. */
  readonly tryVerb: (verb: string, ctx: CallContext) => Promise<ProgramEnd>;
  /** Lets no call begin, waits for those under way up to `patienceMs`, then ends their programs. */
  readonly close: (patienceMs: number) => Promise<void>;
}

const writes: ReadonlySet<string> = new Set(['provision', 'label', 'destroy']);
const termPrefix = 'term/';

const openTerms = async (journal: Journal): Promise<(fencing: Fencing | undefined) => Promise<void>> => {
  const { entries } = await journal.list({ prefix: termPrefix }, testingContext());
  const terms = fencingTerms(
    entries.flatMap(({ key, value }) =>
      typeof value === 'number' ? [{ scope: key.slice(termPrefix.length), term: value }] : [],
    ),
  );
  return async (fencing) => {
    if (fencing === undefined || !terms.admit(fencing)) return;
    await journal.write({ key: `${termPrefix}${fencing.scope}`, value: fencing.term }, testingContext());
  };
};

/**
 * A program that answers verbs, as instances. Writes about one key or one id are one after the other; other calls run up to
 * `Concurrency` at once. Older terms are refused here, whatever the program does about them (Law 12). Each line on stderr
 * is a note of progress, which extends the caller's deadline.
 */
export const openExecInstance = async (options: ExecOptions, deps: ExecDeps): Promise<ExecInstance> => {
  const { Command, Args, Deadline, Grace, Concurrency, MaxOutputBytes } = options;
  const limits = { deadlineMs: Deadline, maxOutputBytes: MaxOutputBytes };
  const command = Command.includes('/') ? resolve(Command) : Command;
  const pool: WorkerPool = workerPool({ concurrency: Concurrency, perQueue: 1 });
  const underway = new Set<Promise<unknown>>();
  const admitTerm = await openTerms(deps.journal);
  const listingOf = listingMemory();
  let calls = 0;

  const environment = (id: string | undefined, ctx: CallContext): Record<string, string> => {
    const allowed: Record<string, string> = {};
    for (const name of options.Env) {
      const value = deps.variable(name);
      if (value !== undefined) allowed[name] = value;
    }
    return { ...allowed, ...requestVariables(id, ctx, deps.stateDir) };
  };

  const run = (
    verb: string,
    params: unknown,
    ctx: CallContext,
    { id, queue = `call/${++calls}` }: { readonly id?: string; readonly queue?: string } = {},
  ): Promise<ProgramEnd> => {
    const running = pool.run(
      queue,
      async (signal) => {
        if (writes.has(verb)) await admitTerm(ctx.fencing);
        const end = await runProgram(
          {
            command,
            args: [...Args, verb],
            env: environment(id, ctx),
            input: requestLine(verb, params, ctx),
            ...limits,
            graceMs: Grace,
            signal,
            onStderrLine: (message) => {
              deps.log.debug({ verb, message }, 'the program says');
              ctx.progress?.({ message });
            },
          },
          { after: deps.after },
        );
        if (end.kind === 'stopped') deps.log.warn({ verb, why: end.why }, 'a program was ended before it was done');
        return end;
      },
      { signal: ctx.signal },
    );
    const settled = running.catch(() => undefined).finally(() => underway.delete(settled));
    underway.add(settled);
    return running;
  };

  const instance: Instance = {
    validate: async (params, ctx) => {
      programAnswer('validate', await run('validate', params, ctx), limits);
      return {};
    },
    provision: async (params, ctx) => {
      const key = ctx.idempotencyKey;
      const place = key === undefined ? {} : { queue: `key/${key}` };
      const { id } = programAnswer('provision', await run('provision', params, ctx, place), limits);
      if (typeof id === 'string' && id !== '') return { id };
      throw badAnswer(
        'provision',
        `the answer must be {"id": "…"} with a text that is not empty, not ${JSON.stringify(id)}`,
      );
    },
    label: async (params, ctx) => {
      const { id } = params;
      programAnswer('label', await run('label', params, ctx, { id, queue: `id/${id}` }), limits);
      return {};
    },
    destroy: async (params, ctx) => {
      const { id } = params;
      programAnswer('destroy', await run('destroy', params, ctx, { id, queue: `id/${id}` }), limits);
      return {};
    },
    describe: async ({ tags, properties, digest }, ctx) => {
      const query = { tags, properties };
      const end = await run('describe', query, ctx);
      const read = () => programAnswer('describe', end, limits);
      const hasPrinted = end.kind === 'exited' && end.code === 0;
      const listing = hasPrinted ? listingOf(end.stdout, query, read) : programListing(read(), query);
      return listing.digest === digest ? Object.freeze({ kind: 'unchanged', digest }) : listing;
    },
  };
  return {
    instance,
    tryVerb: (verb, ctx) => run(verb, {}, ctx),
    close: async (patienceMs) => {
      await new Promise<void>((done) => {
        const stopWaiting = deps.after(patienceMs, done);
        void Promise.all(underway).then(() => {
          stopWaiting();
          done();
        });
      });
      await pool.close();
    },
  };
};
