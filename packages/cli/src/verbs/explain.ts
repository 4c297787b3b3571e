import { controllerInterface } from '@infrakit/spi';
import { exits, usageError } from '../exit.ts';
import { nameAndRest, verb } from '../verb.ts';

/** `explain [name] <entry>`: why a key, a source id or an entry is where it is. */
export default verb<object>({
  define: (command) => command.argument('<entry...>', 'a key, a source id, or the id of an entry'),
  run: async (call) => {
    const { session, object, print } = call;
    const { name, rest } = nameAndRest(call, 'rule');
    const [entry] = rest;
    if (entry === undefined) throw usageError('explain takes a key, a source id, or the id of an entry');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    print((await controller.explain({ name, entry }, session.ctx())).lines);
    return exits.done;
  },
});
