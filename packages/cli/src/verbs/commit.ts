import { type Controller, controllerInterface } from '@infrakit/spi';
import type { Command } from 'commander';
import { type CommitOptions, commitSpec, dump } from '../commit-spec.ts';
import { exits } from '../exit.ts';
import { rawText } from '../format.ts';
import { readSpec } from '../read-spec.ts';
import { addTemplateOptions } from '../template-options.ts';
import { verb } from '../verb.ts';
import { addWaitOptions, destroyAndWait } from '../wait.ts';

const destroyAll = (options: CommitOptions): boolean => options.destroyAll === true;

/** `commit [-y] [--pretend] <file|->`: prints the object as YAML (GP §5.3). */
export default verb<CommitOptions>({
  define: (command: Command) =>
    addWaitOptions(addTemplateOptions(command))
      .argument('<file>', 'a file, an address, or - for standard input')
      .option('--pretend', 'say what would be done, and do nothing')
      .option('--allow-unknown-fields', 'warn of unknown fields instead of refusing them')
      .option('--destroy-all', 'destroy what the file names, instead of committing it')
      .option('-c, --destroy-all-confirm', 'confirm --destroy-all'),
  run: async (call) => {
    const { session, object, options, args, note, streams } = call;
    if (destroyAll(options) && options.destroyAllConfirm !== true) {
      note("Canceled because --destroy-all-confirm isn't set.");
      return exits.done;
    }
    const read = await readSpec(args[0] ?? '-', options, call);
    for (const warning of read.warnings) note(warning);
    if (options.dump === true) return dump(read, streams);
    const controller: Controller = session.plugins.resolve(controllerInterface, object.name);
    if (destroyAll(options)) {
      let exit: number = exits.done;
      for (const { metadata } of read.specs) {
        const { name } = metadata;
        const done = await destroyAndWait(call, name, (ctx) => controller.destroy({ name }, ctx));
        if (done === exits.done) call.print([`Destroyed ${name}`]);
        exit = Math.max(exit, done);
      }
      return exit;
    }
    let exit: number = exits.done;
    for (const spec of read.specs) {
      if (options.pretend === true) {
        const { plan } = await read.locating(spec, () => controller.plan({ operation: 'commit', spec }, session.ctx()));
        for (const warning of plan.warnings) note(warning);
        streams.stdout.write(`${plan.messages.join('\n')}\n`);
        continue;
      }
      const done = await read.locating(spec, () => commitSpec(controller, spec, call));
      streams.stdout.write(rawText(done.object, 'yaml'));
      exit = Math.max(exit, done.exit);
    }
    return exit;
  },
});
