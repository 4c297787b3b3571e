import { parseBrokerUrl } from '@infrakit/core';
import { expect, test } from 'vitest';
import { startMosquitto } from '../integration/mosquitto.ts';
import { startChild, temporaryHome } from './hosts.ts';
import { connectOperator, eventually } from './operator.ts';
import { miners, plugins } from './specs.ts';
import { hasMembers } from './stack.ts';

test('a call that a killed host had taken ends with one sentence; its work goes on after a restart (Law 7, Law 10, Law 11)', async () => {
  await using broker = await startMosquitto();
  await using home = await temporaryHome();
  const of = { home: home.path, broker: broker.url };
  await using host = await startChild(plugins, { ...of, variables: { INFRAKIT_SIMULATOR_DESTROY_DELAY: '60s' } });
  await using operator = await connectOperator(parseBrokerUrl(broker.url));
  await operator.commit(miners());
  await hasMembers(operator, 'miners', 5);
  const destroying = operator.destroy('mystack/miners').catch((error: unknown) => error);
  await eventually('a group that is being destroyed', 10_000, async () =>
    JSON.stringify(await operator.describe('group/miners')).includes('"Phase":"destroying"') ? true : undefined,
  );
  await host.kill();
  expect(await destroying).toMatchObject({
    code: 'PLUGIN_UNAVAILABLE',
    message:
      'the process of mystack/miners ended before it answered Controller.Destroy; whether it was done is not known',
  });
  await using _again = await startChild(plugins, of);
  await eventually('no machines', 15_000, async () =>
    (await operator.instances('simulator/compute')).length === 0 ? true : undefined,
  );
}, 60_000);
