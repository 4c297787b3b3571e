import { AppError } from '@infrakit/core';
import { type EventSource, eventInterface } from '@infrakit/spi';
import type { Command } from 'commander';
import { usageError } from './exit.ts';
import type { Session } from './session.ts';

/** Options of what lists topics (GP §3.5). */
export interface TopicOptions {
  readonly long?: boolean;
  readonly all?: boolean;
  readonly quiet?: boolean;
}

/** Adds them. */
export const addTopicOptions = (command: Command): Command =>
  command
    .option('-l, --long', 'say how many')
    .option('-a, --all', 'all leaves below')
    .option('-q, --quiet', 'no totals');

/** A topic as people write it, without the slash at its end; the empty one is the root. Absolute ones are wrong usage. */
export const topicOf = (path: string): string => {
  if (path.startsWith('/')) throw usageError('No absolute path');
  return path === '.' ? '' : path.replace(/\/+$/, '');
};

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

/**
 * The topics below one topic of an object, relative to it, sorted; with `all` the leaves alone. Lines say how many there are
 * where that is asked for. Errors: `METADATA_NOT_FOUND` for a topic that is not there (GP-E17).
 */
export const topicLines = async (
  session: Session,
  { object, topic }: { readonly object: string; readonly topic: string },
  options: TopicOptions,
): Promise<string[]> => {
  const source = session.plugins.resolve(eventInterface, object);
  const nodes = options.all === true ? await leaves(source, topic, session) : await below(source, topic, session);
  const isLong = (options.long === true || options.all === true) && options.quiet !== true;
  return [...(isLong && (topic !== '' || options.all === true) ? [`total ${nodes.length}:`] : []), ...nodes];
};
