import { writeFile } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import { plain, readDocuments } from '@infrakit/document';
import type { CommandContext, RunCommand } from '../command-context.ts';
import { commandLine, runCommandLine } from '../command-line.ts';
import { exits, usageError } from '../exit.ts';
import { rawText } from '../format.ts';
import { renderSource } from '../render.ts';
import { readSource } from '../source-text.ts';
import { addTemplateOptions, type TemplateFlags } from '../template-options.ts';

const format = async (word: string | undefined, { streams }: CommandContext): Promise<number> => {
  if (word !== 'json' && word !== 'yaml') {
    throw usageError(`template format takes json or yaml, not ${JSON.stringify(word ?? '')}`);
  }
  const { text, name } = await readSource('-', streams.stdin);
  for (const document of readDocuments(text, { file: name })) streams.stdout.write(rawText(plain(document.root), word));
  return exits.done;
};

const write = async (path: string, text: string): Promise<void> => {
  try {
    await writeFile(path, text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('ARGUMENT_INVALID', `${path} cannot be written: ${why}`, { cause });
  }
};

/** `infrakit template <file|->`, `infrakit template format json|yaml` (GP §5.2). */
const runTemplate: RunCommand = (words, context) => {
  const { streams, env } = context;
  const command = addTemplateOptions(
    commandLine(
      'infrakit template',
      {
        summary: 'render a spec file; `format json|yaml` converts standard input',
        example: 'infrakit template --var size=10 cattle.json.tmpl',
      },
      streams,
    ),
  )
    .argument('<words...>', 'a file, an address, or - for standard input; or: format json|yaml')
    .option('-o, --output <file>', 'write to a file instead of stdout');
  return runCommandLine(command, words, async () => {
    const [source = '-', ...rest] = command.args;
    if (source === 'format') return format(rest[0], context);
    if (rest.length > 0) throw usageError(`template takes one file, not ${command.args.length}`);
    const { output, ...flags } = command.opts<TemplateFlags & { readonly output?: string }>();
    const { text } = await renderSource(await readSource(source, streams.stdin), flags, env);
    if (output === undefined) streams.stdout.write(text);
    else await write(output, text);
    return exits.done;
  });
};

export default runTemplate;
