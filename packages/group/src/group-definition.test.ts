import { memoryJournal, memoryStore } from '@infrakit/spi';
import { NEVER } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { GroupOptions, groupDefinition } from './group-definition.ts';

const optionsFrom = (variable: string, text: string) =>
  GroupOptions.parse(groupDefinition.environment?.[variable]?.(text) ?? {});

describe('the group plugin (GP §1.2)', () => {
  test('has the defaults of old', () => {
    expect(GroupOptions.parse({})).toEqual({ PollInterval: 10_000, MaxParallelNum: 0 });
  });

  test('takes its options from the environment', () => {
    expect(optionsFrom('INFRAKIT_GROUP_SELF_LOGICAL_ID', 'm1')).toMatchObject({ Self: 'm1' });
    expect(optionsFrom('INFRAKIT_GROUP_SELF_LOGICAL_ID', '')).not.toHaveProperty('Self');
    expect(optionsFrom('INFRAKIT_GROUP_POLL_INTERVAL', '500ms')).toMatchObject({ PollInterval: 500 });
    expect(optionsFrom('INFRAKIT_GROUP_MAX_PARALLEL_NUM', '3')).toMatchObject({ MaxParallelNum: 3 });
    expect(() => optionsFrom('INFRAKIT_GROUP_POLL_INTERVAL', '0s')).toThrow();
    expect(() => optionsFrom('INFRAKIT_GROUP_MAX_PARALLEL_NUM', 'many')).toThrow();
  });

  test('offers itself as Group and Controller, and stops in order', async () => {
    const nothing = { publish: () => {}, clear: () => {} };
    const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const running = await groupDefinition.start({
      name: 'group',
      options: GroupOptions.parse({}),
      stackId: 'stack',
      stateDir: async () => null,
      broker: null,
      variable: () => undefined,
      plugins: {
        resolve: () => {
          throw new Error('nobody is asked');
        },
        watch: () => NEVER,
      },
      events: { publish: () => {}, subscribe: () => NEVER },
      state: nothing,
      members: nothing,
      journal: memoryJournal(),
      store: memoryStore(),
      log: quiet,
      nowMs: () => 0,
      random: () => 0.5,
      newId: () => 'id',
      objectsChanged: () => {},
    });
    expect(running.objects().map(({ object, description }) => [object, description.name])).toEqual([
      ['', 'Group'],
      ['', 'Controller'],
      ['', 'Event'],
    ]);
    await running.stop();
  });
});
