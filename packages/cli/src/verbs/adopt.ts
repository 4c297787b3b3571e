import { controllerInterface } from '@infrakit/spi';
import { exits } from '../exit.ts';
import { nameAndRest, verb } from '../verb.ts';

/** `adopt [name] [id…]`: takes untagged entries over; without ids, all that count as enrolled (Law 4). */
export default verb<object>({
  define: (command) => command.argument('[ids...]'),
  run: async (call) => {
    const { session, object, print } = call;
    const { name, rest } = nameAndRest(call, 'rule');
    const controller = session.plugins.resolve(controllerInterface, object.name);
    const { adopted } = await controller.adopt({ name, ...(rest.length > 0 && { ids: [...rest] }) }, session.ctx());
    print(adopted.map((id) => `adopted ${id}`));
    return exits.done;
  },
});
