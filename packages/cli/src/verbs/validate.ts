import { instanceInterface } from '@infrakit/spi';
import { z } from 'zod';
import { exits } from '../exit.ts';
import { readAs } from '../read-spec.ts';
import { addTemplateOptions, type TemplateFlags } from '../template-options.ts';
import { verb } from '../verb.ts';

/** `validate <file|->`: checks properties, changes nothing. */
export default verb<TemplateFlags>({
  define: (command) => addTemplateOptions(command).argument('<file>', 'a file, an address, or - for standard input'),
  run: async (call) => {
    const { session, object, args, options, print } = call;
    const properties = await readAs(args[0] ?? '-', z.unknown(), options, call);
    await session.plugins.resolve(instanceInterface, object.name).validate({ properties }, session.ctx());
    print(['validate:ok']);
    return exits.done;
  },
});
