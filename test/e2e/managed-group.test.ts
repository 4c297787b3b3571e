import { controllerInterface, groupInterface } from '@infrakit/spi';
import { expect, test } from 'vitest';
import { miners } from './specs.ts';
import { hasMembers, startStack } from './stack.ts';

const ctx = () => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

test('DESIGN §3: groups of a stack are not changed past its manager, by their controller as little as by themselves', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await operator.commit(miners());
  const members = await hasMembers(operator, 'miners', 5);
  const group = operator.plugins.resolve(groupInterface, 'group');
  const controller = operator.plugins.resolve(controllerInterface, 'group');
  const refused = { code: 'OBJECT_MANAGED', message: 'group is managed: change it through mystack/groups' };
  await expect(controller.commit({ spec: miners(7), revision: 99 }, ctx())).rejects.toMatchObject(refused);
  await expect(group.setSize({ name: 'miners', size: 7 }, ctx())).rejects.toMatchObject(refused);
  await expect(group.destroy({ name: 'miners' }, ctx())).rejects.toMatchObject(refused);
  expect((await controller.describe({ search: {} }, ctx())).objects).toMatchObject([{ metadata: { name: 'miners' } }]);
  expect(await operator.members('miners')).toEqual(members);
  expect(await operator.describe('mystack/groups')).toMatchObject([{ metadata: { name: 'mystack/miners' } }]);
  await operator.scale('miners', 6);
  await hasMembers(operator, 'miners', 6);
}, 60_000);
