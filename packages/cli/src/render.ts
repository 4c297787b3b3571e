import { AppError } from '@infrakit/core';
import type { Position } from '@infrakit/document';
import { compile, TemplateError, type Position as TemplatePosition } from '@infrakit/template';
import { readAddress, type SourceText } from './source-text.ts';
import { type TemplateFlags, variablesOf } from './template-options.ts';

/** A rendered spec file, and the way back from its text to the file. */
export interface RenderedSource {
  readonly source: SourceText;
  readonly text: string;
  readonly positionOf: (offset: number) => Position;
}

/** A place as documents count them (columns from 1, UTF-16), from one as templates do (columns from 0, bytes). */
const inDocument = (text: string, { line, column }: Pick<TemplatePosition, 'line' | 'column'>): Position => {
  const lineText = text.split('\n')[line - 1] ?? '';
  return { line, column: Buffer.from(lineText).subarray(0, column).toString('utf8').length + 1 };
};

/** What Go's templates print for nothing; the last pass leaves it out (GP §5.1). */
const nothing = '<no value>';

/** A text without what stands for nothing, and the way back to the places in it. */
const withoutNothing = (text: string): { readonly text: string; readonly before: (offset: number) => number } => {
  const parts = text.split(nothing);
  return {
    text: parts.join(''),
    before: (offset) => {
      let end = 0;
      for (const [at, part] of parts.entries()) {
        end += part.length;
        if (offset < end || at === parts.length - 1) return offset + at * nothing.length;
      }
      return offset;
    },
  };
};

/**
 * Renders a spec file (GP §5.2): its variables come from `--var`, its environment from `env`, includes are read relative to
 * it. `SPEC_TEMPLATE` says where and what.
 */
export const renderSource = async (
  source: SourceText,
  flags: TemplateFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RenderedSource> => {
  try {
    const template = compile(source.text, {
      name: source.name,
      url: source.url,
      multiPass: flags.final !== true,
      missingKey: flags.final === true ? 'default' : 'error',
      clock: Date.now,
      env: (name) => env[name],
      loader: ({ url }) => readAddress(url),
    });
    const { text, map } = await template.renderWithMapAsync({}, { vars: variablesOf(flags) });
    const positionOf = (offset: number): Position => inDocument(source.text, map.locate(offset));
    if (flags.final !== true) return { source, text, positionOf };
    const left = withoutNothing(text);
    return { source, text: left.text, positionOf: (offset) => positionOf(left.before(offset)) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { line, column } = inDocument(source.text, error);
    const file = error.templateName === source.name ? source.name : error.templateName;
    throw new AppError('SPEC_TEMPLATE', `${file}:${line}:${column}: ${error.reason}`, { cause: error });
  }
};
