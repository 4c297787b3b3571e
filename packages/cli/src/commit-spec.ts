import { AppError, type Spec, type SpecObject, toAppError } from '@infrakit/core';
import type { Controller } from '@infrakit/spi';
import type { Streams } from './command-context.ts';
import { exits } from './exit.ts';
import { rawText } from './format.ts';
import type { ReadSpecs } from './read-spec.ts';
import type { TemplateFlags } from './template-options.ts';
import type { VerbCall } from './verb.ts';
import { type WaitOptions, waitIfWanted } from './wait.ts';

/** Options of verbs that commit. */
export interface CommitOptions extends TemplateFlags, WaitOptions {
  readonly pretend?: boolean;
  readonly allowUnknownFields?: boolean;
  readonly destroyAll?: boolean;
  readonly destroyAllConfirm?: boolean;
}

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
