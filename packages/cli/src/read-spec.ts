import { AppError, type Spec } from '@infrakit/core';
import { placed } from '@infrakit/document';
import type { z } from 'zod';
import type { CommandContext } from './command-context.ts';
import { usageError } from './exit.ts';
import { type RenderedSource, renderSource } from './render.ts';
import { readSource } from './source-text.ts';
import { decodeAs, decodeSpec, documentsOf } from './spec-input.ts';
import type { TemplateFlags } from './template-options.ts';

/** The specs of a file, and how it was rendered. */
export interface ReadSpecs {
  readonly rendered: RenderedSource;
  readonly specs: readonly Spec[];
  readonly warnings: readonly string[];
  /** What is found wrong with one of them later on is told with its place in the file. */
  readonly locating: <T>(spec: Spec, work: () => Promise<T>) => Promise<T>;
}

const render = async (
  argument: string,
  flags: TemplateFlags,
  { streams, env }: CommandContext,
): Promise<RenderedSource> => renderSource(await readSource(argument, streams.stdin), flags, env);

/** Reads, renders and decodes a spec file in either envelope; several documents are several specs. */
export const readSpec = async (
  argument: string,
  flags: TemplateFlags & { readonly allowUnknownFields?: boolean },
  context: CommandContext,
): Promise<ReadSpecs> => {
  const rendered = await render(argument, flags, context);
  const options = { allowUnknownFields: flags.allowUnknownFields === true };
  const documents = documentsOf(rendered);
  const decoded = documents.map((document) => decodeSpec(document, options));
  return {
    rendered,
    specs: decoded.map(({ value }) => value),
    warnings: decoded.flatMap(({ warnings }) => warnings),
    locating: async (spec, work) => {
      try {
        return await work();
      } catch (thrown) {
        const document = documents[decoded.findIndex(({ value }) => value === spec)];
        if (!(thrown instanceof AppError) || document === undefined) throw thrown;
        const { code, facts, message } = thrown;
        const lines = message.split('\n').map((line) => placed(document, line));
        throw new AppError(code, lines.join('\n'), { facts, cause: thrown });
      }
    },
  };
};

/** Reads, renders and decodes a file of one document by a schema. */
export const readAs = async <S extends z.ZodType>(
  argument: string,
  schema: S,
  flags: TemplateFlags,
  context: CommandContext,
): Promise<z.output<S>> => {
  const [document, ...others] = documentsOf(await render(argument, flags, context));
  if (document === undefined || others.length > 0) throw usageError(`${argument} must hold one document`);
  return decodeAs(document, schema).value;
};
