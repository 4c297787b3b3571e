import { exits } from '../exit.ts';
import { addTopicOptions, type TopicOptions, topicLines, topicOf } from '../list-topics.ts';
import { verb } from '../verb.ts';

/** `topics [path…] [-l] [-a] [-q]`: the topics below each path, relative to it (GP §3.5). */
export default verb<TopicOptions>({
  define: (command) => addTopicOptions(command).argument('[paths...]', 'topics; . is the root'),
  run: async ({ session, object, args, options, print }) => {
    for (const topic of (args.length === 0 ? ['.'] : args).map(topicOf)) {
      print(await topicLines(session, { object: object.name, topic }, options));
    }
    return exits.done;
  },
});
