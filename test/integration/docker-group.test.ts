import type { Spec } from '@infrakit/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHere, temporaryHome } from '../e2e/hosts.ts';
import { brokerOf, connectOperator, eventually } from '../e2e/operator.ts';
import { hasMembers } from '../e2e/stack.ts';
import { type Podman, startPodman } from './podman.ts';

let podman: Podman;

beforeAll(async () => {
  podman = await startPodman();
}, 60_000);
afterAll(() => podman[Symbol.asyncDispose](), 60_000);

const web = (): Spec => ({
  kind: 'group',
  metadata: { name: 'web' },
  properties: {
    Allocation: { Size: 3 },
    Flavor: { Plugin: 'vanilla' },
    Instance: {
      Plugin: 'docker/container',
      Properties: { Image: podman.image, Command: ['/bin/sleep', '600'], Networks: ['none'], StopTimeout: '0s' },
    },
  },
});

/** A container as somebody makes it by hand who wants it to become a member. */
const bootstrapped = (): string => {
  const labels = ['infrakit.docker.endpoint=docker', 'infrakit.tag.infrakit.group=web'];
  const asked = [...labels, 'infrakit.tag.infrakit.config.hash=bootstrap'].flatMap((label) => ['--label', label]);
  return podman.run('run', '-d', '--network', 'none', ...asked, podman.image, '/bin/sleep', '600').trim();
};

const own = (): string[] =>
  podman
    .run('ps', '--all', '--quiet', '--no-trunc', '--filter', 'label=infrakit.docker.endpoint=docker')
    .split('\n')
    .filter(Boolean)
    .sort();

test('a group adopts containers whose labels nobody can change, over restarts; one that the engine hides is unknown, not gone', async () => {
  const adopted = [bootstrapped(), bootstrapped()];
  await using home = await temporaryHome();
  const start = async () => {
    const pluginOptions = { docker: { Host: podman.host }, group: { PollInterval: '200ms' } };
    const host = await startHere(['manager:mystack', 'group', 'vanilla', 'docker'], { home: home.path, pluginOptions });
    return { host, operator: await connectOperator(await brokerOf(home.path)) };
  };
  let { host, operator } = await start();
  const end = async (): Promise<void> => {
    await operator[Symbol.asyncDispose]();
    await host.stop();
  };
  try {
    await operator.commit(web());
    await hasMembers(operator, 'web', 3);
    const members = await operator.members('web');
    expect(members).toEqual(expect.arrayContaining(adopted));
    expect(own()).toEqual(members);

    await end();
    ({ host, operator } = await start());
    await hasMembers(operator, 'web', 3);
    expect(await operator.members('web')).toEqual(members);

    const seen = async () => (await operator.membership('web'))?.kind;
    await podman.stop('SIGKILL');
    await eventually('the members are not known', 10_000, async () =>
      (await seen()) === 'unknown' ? true : undefined,
    );
    await podman.start();
    await hasMembers(operator, 'web', 3);
    expect(await operator.members('web')).toEqual(members);
    expect(own()).toEqual(members);
  } finally {
    await end();
  }
}, 60_000);
