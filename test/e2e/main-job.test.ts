import { expect, test } from 'vitest';
import { eventually } from './operator.ts';
import { cattle, cattleNfs, miners } from './specs.ts';
import { follows, hasMembers, mainJob, startStack } from './stack.ts';

test('authorisations follow cattle 10 → 20 → 8; miners cause none (issue 5, EI §7)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const first = await operator.members('cattle');
  await operator.scale('cattle', 20);
  expect(await follows(operator, 20)).toEqual(expect.arrayContaining(first));
  await operator.scale('miners', 10);
  await hasMembers(operator, 'miners', 10);
  await operator.scale('cattle', 8);
  const last = await follows(operator, 8);
  const entries = await operator.instances('nfs-auth/disk');
  for (const { Properties, Tags } of entries) {
    expect(Properties).toEqual({ host: Tags?.['infrakit.enrollment.sourceID'], iops: 10 });
    expect(Tags?.['infrakit.enrollment.name']).toBe('cattle-nfs');
    expect(Tags?.['infrakit.enrollment.owner']).toMatch(/^mystack-\w+\/nfs\/cattle-nfs$/);
  }
  const compute = await operator.instances('simulator/compute', { 'infrakit.group': 'cattle' });
  expect(compute.map(({ ID }) => ID).sort()).toEqual(last);
});

test('further cycles of a rule with nothing to do change nothing (EI §7: ten rounds; Law 8)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await operator.commit(cattle());
  await operator.commit(cattleNfs({ SyncInterval: '50ms' }));
  await follows(operator, 10);
  const before = await operator.instances('nfs-auth/disk');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await operator.instances('nfs-auth/disk')).toEqual(before);
});

test('0 is a size; members named in a request are destroyed and the size is lowered (GP-M7, GP-G4)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const [first, second, ...rest] = await operator.members('cattle');
  await operator.destroyInstances('cattle', [String(first), String(second)]);
  expect(await follows(operator, 8)).toEqual(rest);
  expect(await operator.size('cattle')).toBe(8);
  await expect(operator.destroyInstances('cattle', [String(rest[0]), 'nobody'])).rejects.toMatchObject({
    code: 'MEMBER_UNKNOWN',
  });
  expect(await follows(operator, 8)).toEqual(rest);
  await operator.scale('cattle', 0);
  await follows(operator, 0);
});

test('when a group is destroyed everything downstream empties, without a restart (Law 2)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  await operator.destroy('mystack/cattle');
  await eventually('an empty sink', 5_000, async () => ((await operator.enrolled()).length === 0 ? true : undefined));
  expect(await operator.membership('cattle')).toMatchObject({ kind: 'known', count: 0, target: 0, phase: 'destroyed' });
  expect(await operator.instances('simulator/compute', { 'infrakit.group': 'cattle' })).toEqual([]);
  await hasMembers(operator, 'miners', 5);
  await operator.commit(cattle(4));
  await follows(operator, 4);
});

test('free, scale, commit again: no change while freed, then it converges (EI §7)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  await operator.free('mystack/nfs/cattle-nfs');
  const before = await operator.enrolled();
  await operator.scale('cattle', 15);
  await hasMembers(operator, 'cattle', 15);
  expect(await operator.enrolled()).toEqual(before);
  await operator.commit(cattleNfs());
  await follows(operator, 15);
});

test('a freed group leaves its instances and their authorisations; committed again it finds them (Law 1)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const members = await operator.members('cattle');
  await operator.free('mystack/cattle');
  await eventually('an unknown membership', 5_000, async () =>
    (await operator.membership('cattle'))?.kind === 'unknown' ? true : undefined,
  );
  expect(await operator.enrolled()).toEqual(members);
  await operator.commit(cattle());
  expect(await follows(operator, 10)).toEqual(members);
});

test('a refused commit changes nothing anywhere: the old spec goes on (GP-M7, EI §7)', async () => {
  await using stack = await startStack();
  const { operator } = stack;
  await mainJob(operator);
  const [groups, rules] = [await operator.describe('mystack/groups'), await operator.describe('mystack/nfs')];
  const bad = [
    { ...cattle(), properties: { ...Object(cattle().properties), Allocation: { Size: -3 } } },
    { ...cattle(), properties: { ...Object(cattle().properties), Allocatoin: { Size: 3 } } },
    { ...miners(), properties: { ...Object(miners().properties), Instance: { Plugin: 'nobody/compute' } } },
    cattleNfs({ SourceParseErrPolicy: 'Sometimes' }),
    { ...cattleNfs(), properties: { ...Object(cattleNfs().properties), List: undefined, Lisst: 'mystack/cattle' } },
  ];
  for (const spec of bad) await expect(operator.commit(spec)).rejects.toMatchObject({ name: 'AppError' });
  expect(await operator.describe('mystack/groups')).toEqual(groups);
  expect(await operator.describe('mystack/nfs')).toEqual(rules);
  await operator.scale('cattle', 12);
  await follows(operator, 12);
});
