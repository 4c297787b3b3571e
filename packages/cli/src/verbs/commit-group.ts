import { type Group, groupInterface } from '@infrakit/spi';
import { type CommitOptions, commitSpec, dump } from '../commit-spec.ts';
import { exits } from '../exit.ts';
import { readSpec } from '../read-spec.ts';
import { addTemplateOptions } from '../template-options.ts';
import { verb } from '../verb.ts';
import { addWaitOptions } from '../wait.ts';

/** `commit-group [-y] [--pretend] <file|->`: prints the plan in one line (GP §5.3). */
export default verb<CommitOptions>({
  define: (command) =>
    addWaitOptions(addTemplateOptions(command))
      .argument('<file>', 'a file, an address, or - for standard input')
      .option('--pretend', 'say what would be done, and do nothing')
      .option('--allow-unknown-fields', 'warn of unknown fields instead of refusing them'),
  run: async (call) => {
    const { session, object, options, args, note, print, streams } = call;
    const read = await readSpec(args[0] ?? '-', options, call);
    for (const warning of read.warnings) note(warning);
    if (options.dump === true) return dump(read, streams);
    const group: Group = session.plugins.resolve(groupInterface, object.name);
    let exit: number = exits.done;
    for (const spec of read.specs) {
      const { plan } = await read.locating(spec, () => group.plan({ operation: 'commit', spec }, session.ctx()));
      for (const warning of plan.warnings) note(warning);
      const id = spec.metadata.name;
      if (options.pretend === true) {
        print([`Committing ${id} would involve: ${plan.messages.join('; ')}`]);
        continue;
      }
      const done = await read.locating(spec, () => commitSpec(group, spec, call));
      print([`Committed ${id}: ${plan.messages.join('; ')}`]);
      exit = Math.max(exit, done.exit);
    }
    return exit;
  },
});
