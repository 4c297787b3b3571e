import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { type FormatOptions, formatOf, rawText } from '../format.ts';
import { readSpec } from '../read-spec.ts';
import { addTemplateOptions, type TemplateFlags } from '../template-options.ts';
import { verb } from '../verb.ts';

/** `plan [-y] <file|->`: one line an act, warnings on stderr; nothing is changed (Law 3). */
export default verb<TemplateFlags & FormatOptions & { readonly destroy?: boolean }>({
  define: (command) =>
    addTemplateOptions(command)
      .argument('<file>', 'a file, an address, or - for standard input')
      .option('--destroy', 'plan the destruction of what the file names')
      .option('-o, --output [format]', 'table, json or yaml'),
  run: async (call) => {
    const { session, object, options, args, note, print, streams } = call;
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const operation = options.destroy === true ? 'destroy' : 'commit';
    const format = formatOf({ ...(options.output !== undefined && { output: options.output }) });
    const read = await readSpec(args[0] ?? '-', options, call);
    for (const spec of read.specs) {
      const { plan } = await read.locating(spec, () => controller.plan({ operation, spec }, session.ctx()));
      if (format === 'json' || format === 'yaml') streams.stdout.write(rawText(plan, format));
      else print(plan.messages);
      for (const warning of plan.warnings) note(warning);
    }
    return exits.done;
  },
});
