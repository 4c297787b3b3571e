import { expect, test } from 'vitest';
import { startMosquitto } from '../integration/mosquitto.ts';
import { collect, publish, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';
import { brokerOf, connectOperator } from './operator.ts';
import { cattle, plugins } from './specs.ts';
import { hasMembers } from './stack.ts';

const perMember = (source: { readonly url: string }, sink: { readonly url: string }) => ({
  kind: 'enrollment',
  metadata: { name: 'per-member' },
  properties: {
    List: 'mystack/cattle',
    Instance: {
      Plugin: 'repeater/topic',
      Properties: {
        Source: { URL: source.url },
        Sink: { URL: sink.url },
        sourcetopic: 'members/{{.ID}}/#',
        sinktopic: 'site1/',
      },
    },
  },
});

test('issue 6: an enrollment mirrors a topic for each member of a group, and no longer when it has left', async () => {
  await using home = await temporaryHome();
  await using source = await startMosquitto();
  await using sink = await startMosquitto();
  await using got = await collect(sink.port);
  await using _host = await startHere([...plugins, 'repeater'], { home: home.path });
  await using operator = await connectOperator(await brokerOf(home.path));
  await operator.commit(cattle(3));
  await hasMembers(operator, 'cattle', 3);
  await operator.commit(perMember(source, sink));
  const mirrored = async () =>
    (await operator.instances('repeater/topic')).map(({ Tags }) => Tags?.['infrakit.enrollment.sourceID']).sort();
  const follows = async (): Promise<boolean> =>
    JSON.stringify(await mirrored()) === JSON.stringify(await operator.members('cattle'));

  await until('a mirror for each', async () => (await mirrored()).length === 3 && (await follows()));
  const before = await operator.members('cattle');
  for (const id of before) {
    await until(`what is told of ${id}`, async () => {
      await publish(source.port, `members/${id}/load`, 'some');
      return got.messages.some(({ topic }) => topic === `site1/members/${id}/load`);
    });
  }

  await operator.scale('cattle', 2);
  await hasMembers(operator, 'cattle', 2);
  await until('one mirror less', async () => (await mirrored()).length === 2 && (await follows()));
  const stayed = await operator.members('cattle');
  const left = before.find((id) => !stayed.includes(id)) ?? '';
  await publish(source.port, `members/${left}/late`, 'late');
  for (const id of stayed) {
    await publish(source.port, `members/${id}/end`, 'end');
    await until(`the end of ${id}`, () => got.messages.some(({ topic }) => topic === `site1/members/${id}/end`));
  }
  expect(got.messages.map(({ topic }) => topic)).not.toContain(`site1/members/${left}/late`);
});
