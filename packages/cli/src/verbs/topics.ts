import { AppError } from '@infrakit/core';
import { type EventSource, eventInterface } from '@infrakit/spi';
import { exits, usageError } from '../exit.ts';
import type { Session } from '../session.ts';
import { verb } from '../verb.ts';

interface Options {
  readonly long?: boolean;
  readonly all?: boolean;
  readonly quiet?: boolean;
}

const below = async (source: EventSource, topic: string, session: Session): Promise<string[]> => {
  const { nodes } = await source.list({ topic }, session.ctx());
  if (nodes === null) throw new AppError('METADATA_NOT_FOUND', `there is no topic ${topic === '' ? '.' : topic}`);
  return nodes;
};

const leaves = async (source: EventSource, topic: string, session: Session): Promise<string[]> => {
  const nodes = await below(source, topic, session);
  const deeper = await Promise.all(
    nodes.map(async (node) => {
      const found = await leaves(source, topic === '' ? node : `${topic}/${node}`, session);
      return found.length === 0 ? [node] : found.map((leaf) => `${node}/${leaf}`);
    }),
  );
  return deeper.flat();
};

/** `topics [path…] [-l] [-a] [-q]`: the topics below each path, relative to it (GP §3.5). */
export default verb<Options>({
  define: (command) =>
    command
      .argument('[paths...]')
      .option('-l, --long', 'say how many')
      .option('-a, --all', 'all leaves below')
      .option('-q, --quiet', 'no totals'),
  run: async ({ session, object, args, options, print }) => {
    const source = session.plugins.resolve(eventInterface, object.name);
    const paths = args.length === 0 ? ['.'] : args;
    for (const path of paths) {
      if (path.startsWith('/')) throw usageError('No absolute path');
      const topic = path === '.' ? '' : path.replace(/\/+$/, '');
      const nodes = options.all === true ? await leaves(source, topic, session) : await below(source, topic, session);
      const isLong = (options.long === true || options.all === true) && options.quiet !== true;
      print([...(isLong && (topic !== '' || options.all === true) ? [`total ${nodes.length}:`] : []), ...nodes]);
    }
    return exits.done;
  },
});
