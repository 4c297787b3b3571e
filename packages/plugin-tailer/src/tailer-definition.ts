import { access } from 'node:fs/promises';
import { AppError } from '@infrakit/core';
import { systemClock, topicTree, treeMetadata } from '@infrakit/runtime';
import { eventInterface, metadataInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { type FileFollower, type FollowerEvents, followFile } from './file-follower.ts';
import { followPipe } from './pipe-follower.ts';
import { TailerOptions } from './tailer-options.ts';

const everyMs = 250;

/** A file's topic: its path without the slash in front, since no level of ours is empty. */
const topicOf = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');

const requireFile = async (path: string): Promise<void> => {
  try {
    await access(path);
  } catch (cause) {
    throw new AppError('ARGUMENT_INVALID', `${path} must be there for the tailer to start, and is not`, { cause });
  }
};

/** Lines of files as events (GP §3.4): topic and id are the path, the data is the line; metadata holds the last line of each. */
export const tailerDefinition: PluginDefinition<typeof TailerOptions> = {
  kind: 'tailer',
  summary: 'lines of files as events',
  isSingle: false,
  options: TailerOptions,
  environment: { INFRAKIT_TAILER_PATH: (text) => ({ Files: [{ Path: text }] }) },
  start: async ({ options, events, log, nowMs }) => {
    const files = options.Files;
    for (const { Path, MustExist } of files) if (MustExist) await requireFile(Path);
    const current = new Map<string, string>();
    const followers = files.map(({ Path: path, ReOpen: isReopened, Pipe: isPipe }): FileFollower => {
      const told: FollowerEvents = {
        line: (line) => {
          current.set(path, line);
          events.publish({
            Topic: topicOf(path),
            Type: 'tailer',
            ID: path,
            Message: '',
            Timestamp: new Date(nowMs()).toISOString(),
            Data: line,
          });
        },
        change: (what) => log.info({ path, what }, 'a followed file changed'),
        trouble: (why) => log.warn({ path, why }, 'a file cannot be followed for now'),
      };
      const how = { path, isReopened, everyMs };
      return isPipe ? followPipe(how, systemClock, told) : followFile(how, systemClock, told);
    });
    await Promise.all(followers.map(({ begun }) => begun));
    const topics = files.map(({ Path }) => topicOf(Path));
    const objects = [
      pluginObject({ object: '', description: eventInterface, implementation: topicTree(() => topics) }),
      pluginObject({
        object: '',
        description: metadataInterface,
        implementation: treeMetadata(() => ({ current: Object.fromEntries(current) })),
      }),
    ];
    return {
      objects: () => objects,
      stop: async () => {
        await Promise.all(followers.map((follower) => follower.stop()));
      },
    };
  },
};
