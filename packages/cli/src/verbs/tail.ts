import { addFollowOptions, type FollowOptions, followEvents, tellUnknown } from '../follow-events.ts';
import type { BusObject } from '../objects.ts';
import { verb } from '../verb.ts';

/** Which plugin's events an object means, and the topics below it: those of a group are its own branch of the group plugin. */
const placeOf = ({ name, object, proxyFor }: BusObject, topics: readonly string[]) => {
  const [plugin = '', ...scope] = (proxyFor ?? name).split('/');
  const branch = object === 'groups' ? '' : scope.map((part) => `${part}/`).join('');
  const own = (topic: string): string => (topic === '.' ? branch : branch + topic.replace(/^\//, ''));
  return topics.map((topic) => ({ plugin, topic: branch === '' ? topic : own(topic) }));
};

/**
 * `tail [topic…]`: follows the events of an object. Topics are MQTT filters or the old forms.
 */
export default verb<FollowOptions>({
  define: (command) =>
    addFollowOptions(command).argument(
      '[topics...]',
      'MQTT filters, or the old forms: . for all, a slash at the end for all below',
    ),
  run: async ({ object, args, options, ...call }) => {
    const given = args.length === 0 ? ['.'] : args;
    if (object.interfaces.has('Event')) await tellUnknown(object.name, given, call);
    return followEvents(placeOf(object, given), options, { ...call, prefixOf: () => '' });
  },
});
