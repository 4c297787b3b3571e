import { InstanceSpec } from '@infrakit/core';
import { instanceInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { readAs } from '../read-spec.ts';
import { addTemplateOptions, type TemplateFlags } from '../template-options.ts';
import { verb } from '../verb.ts';

/** `provision <file|->`: makes an instance from an instance spec and prints its id. */
export default verb<TemplateFlags>({
  define: (command) => addTemplateOptions(command).argument('<file>', 'a file, an address, or - for standard input'),
  run: async (call) => {
    const { session, object, args, options, print } = call;
    const spec = await readAs(args[0] ?? '-', InstanceSpec, options, call);
    const { id } = await session.plugins.resolve(instanceInterface, object.name).provision({ spec }, session.ctx());
    print([id]);
    return exits.done;
  },
});
