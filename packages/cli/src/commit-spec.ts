import { AppError, type Spec, type SpecObject, toAppError } from '@infrakit/core';
import type { Controller } from '@infrakit/spi';
import type { Command } from 'commander';
import { exits } from './exit.ts';
import { rawText } from './format.ts';
import type { ReadSpecs } from './read-spec.ts';
import type { TemplateFlags } from './template-options.ts';
import type { Streams, VerbCall } from './verb.ts';
import { waitConverged } from './wait.ts';

/** Options of verbs that change something (DESIGN §6). */
export interface WaitOptions {
  readonly wait?: boolean;
  readonly timeout: string;
}

/** Options of verbs that commit. */
export interface CommitOptions extends TemplateFlags, WaitOptions {
  readonly pretend?: boolean;
  readonly allowUnknownFields?: boolean;
  readonly destroyAll?: boolean;
  readonly destroyAllConfirm?: boolean;
}

/** Adds `--wait` and `--timeout`. */
export const addWaitOptions = (command: Command): Command =>
  command
    .option('--wait', 'wait until it has converged; the default on a terminal')
    .option('--no-wait', 'do not wait')
    .option('--timeout <duration>', 'how long to wait', '60s');

/** Waits for convergence where that is asked for, or stdout is a terminal; gives the exit code. */
export const waitIfWanted = async (call: VerbCall<WaitOptions>, name: string): Promise<number> => {
  const isWanted = call.options.wait ?? call.streams.stdout.isTTY === true;
  return isWanted ? waitConverged(call, name) : exits.done;
};

/** Commits a spec, and waits where that is wanted. A commit that is stored but not taken yet is exit 3. */
export const commitSpec = async (
  controller: Controller,
  spec: Spec,
  call: VerbCall<CommitOptions>,
): Promise<{ readonly object: SpecObject; readonly exit: number }> => {
  try {
    const revision = await nextRevision(controller, spec, call);
    const { object } = await controller.commit({ spec, revision }, call.session.ctx());
    return { object, exit: await waitIfWanted(call, spec.metadata.name) };
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code !== 'COMMIT_PENDING') throw thrown;
    call.note(thrown.message);
    return { object: spec, exit: exits.pending };
  }
};

/** The revision after the one in force. A manager gives its own; a controller without one takes this. */
const nextRevision = async (controller: Controller, { metadata }: Spec, { session }: VerbCall<CommitOptions>) => {
  try {
    return (await controller.spec({ name: metadata.name }, session.ctx())).revision + 1;
  } catch (thrown) {
    const { code } = toAppError(thrown);
    if (code === 'RULE_NOT_FOUND' || code === 'GROUP_NOT_FOUND') return 1;
    throw thrown;
  }
};

/** Prints what a file was rendered to, and the specs in it as JSON (`--dump`). */
export const dump = ({ rendered, specs }: ReadSpecs, { stdout }: Streams): number => {
  stdout.write(rendered.text.endsWith('\n') ? rendered.text : `${rendered.text}\n`);
  for (const spec of specs) stdout.write(rawText(spec, 'json'));
  return exits.done;
};
