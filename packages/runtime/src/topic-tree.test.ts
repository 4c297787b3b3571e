import { testingContext } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { topicTree } from './topic-tree.ts';

const topics = ['storage/instance/create', 'storage/instance/delete', 'compute/instance/create', 'device'];
const below = async (topic: string, known: readonly string[] = topics) =>
  (await topicTree(() => known).list({ topic }, testingContext())).nodes;

test.each([
  ['', ['compute', 'device', 'storage']],
  ['.', ['compute', 'device', 'storage']],
  ['storage/', ['instance']],
  ['storage/instance', ['create', 'delete']],
  ['device', []],
])('EI §5.2: below %j there is %j', async (topic, nodes) => {
  expect(await below(topic)).toEqual(nodes);
});

test.each([['storage/instance/delete'], ['storage/instance/create'], ['compute'], ['device']])(
  'GP-E11, EI-V9: %s is there, wherever among its siblings it stands',
  async (topic) => {
    expect(await below(topic)).not.toBeNull();
  },
);

test.each([['storage/instance/c'], ['stor'], ['computer'], ['device/x']])('EI §5.2: %s is not there', async (topic) => {
  expect(await below(topic)).toBeNull();
});

test('who publishes nothing so far has no topics, and that is no error', async () => {
  expect(await below('', [])).toEqual([]);
});
