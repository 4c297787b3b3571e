import type { Spec } from '@infrakit/core';
import type { Host } from '@infrakit/host';
import { type CallContext, controllerInterface, instanceInterface } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { type Mosquitto, startMosquitto } from '../integration/mosquitto.ts';
import { collect, publish, until } from '../integration/repeater-scene.ts';
import { startHere, temporaryHome } from './hosts.ts';

const ctx = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 30_000 });

const specOf = (sink: Mosquitto, properties: object, name = 'bridge'): Spec => ({
  kind: 'event-repeater',
  metadata: { name },
  properties: { Source: 'time', Sink: { URL: `tcp://127.0.0.1:${sink.port}` }, ...properties },
});

interface Row {
  readonly Key: string;
  readonly State: string;
  readonly Data: { readonly messages: number; readonly notes?: string };
}

const repeaterOf = ({ bus }: Host, object = 'repeater') => {
  const controller = bus.plugins.resolve(controllerInterface, object);
  const rows = async (): Promise<readonly Row[]> => {
    const { objects } = await controller.describe({ search: {} }, ctx());
    return objects.flatMap(({ state }) => state as readonly Row[]);
  };
  return {
    controller,
    rows,
    commit: async (spec: Spec, revision: number) => {
      await controller.commit({ spec, revision }, ctx());
      await until('every rule', async () => {
        const states = (await rows()).map(({ State }) => State);
        return states.length > 0 && states.every((state) => state === 'active');
      });
    },
  };
};

const mirrorsOf = async ({ bus }: Host) => {
  const listing = await bus.plugins
    .resolve(instanceInterface, 'repeater/topic')
    .describe({ tags: {}, properties: true }, ctx());
  return listing.kind === 'instances' ? listing.instances : [];
};

const plugins = ['time', 'repeater'];

describe('a repeater spec', () => {
  test('events of a plugin go to a plain broker as they were published; rules are added, changed and removed by commits', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using host = await startHere(plugins, { home: home.path });
    await using got = await collect(sink.port);
    const { commit, rows } = repeaterOf(host);
    await commit(specOf(sink, { Rules: [{ sourcetopic: 'timer/sec/1', sinktopic: '/time/1s' }] }), 1);
    await until('a second', () => got.messages.length > 0);
    const event = JSON.parse(got.messages[0]?.payload ?? '{}');
    expect(got.messages[0]?.topic).toBe('/time/1s');
    expect(event).toMatchObject({ Topic: 'timer/sec/1', Type: 'timer', ID: '1sec', Data: 1_000_000_000 });

    const kept = { sourcetopic: 'timer/sec/1', sinktopic: '/time/1s' };
    await commit(specOf(sink, { Rules: [kept, { sourcetopic: 'streams/', sinktopic: 'all/' }] }), 2);
    const [first] = (await mirrorsOf(host)).filter(
      ({ Tags }) => Tags?.['infrakit.enrollment.sourceID'] === kept.sourcetopic,
    );
    await until('another rule', () => got.messages.some(({ topic }) => topic === 'all/streams/sec/1'));

    await commit(specOf(sink, { Rules: [kept, { sourcetopic: 'streams/', sinktopic: 'other/' }] }), 3);
    await until('the changed rule', () => got.messages.some(({ topic }) => topic === 'other/streams/sec/1'));
    const mirrors = await mirrorsOf(host);
    expect(mirrors.map(({ ID }) => ID)).toContain(first?.ID);
    expect(mirrors).toHaveLength(2);

    await commit(specOf(sink, { Rules: [kept] }), 4);
    await until('the removal', async () => (await mirrorsOf(host)).length === 1);
    const seconds = () => got.messages.filter(({ topic }) => topic === '/time/1s').length;
    const further = async (): Promise<void> => {
      const count = seconds();
      await until('further seconds', () => seconds() > count + 1);
    };
    // What was on its way is there by then.
    await further();
    const before = got.messages.length;
    await further();
    expect(got.messages.slice(before).map(({ topic }) => topic)).not.toContain('other/streams/sec/1');
    const [row] = await rows();
    expect(row?.Data.messages).toBeGreaterThan(1);
  }, 120_000);

  test('GP-R14: mirrors go on after a restart of the host; destroying the spec ends them', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using got = await collect(sink.port);
    {
      await using host = await startHere(plugins, { home: home.path });
      await repeaterOf(host).commit(specOf(sink, { AllowAll: true }), 1);
      await until('events', () => got.messages.some(({ topic }) => topic === 'timer/sec/1'));
    }
    await using host = await startHere(plugins, { home: home.path });
    const before = got.messages.length;
    await until('events', () => got.messages.length > before);
    const { commit, controller } = repeaterOf(host);
    const [mirror] = await mirrorsOf(host);
    await commit(specOf(sink, { AllowAll: true }), 1);
    expect((await mirrorsOf(host)).map(({ ID }) => ID)).toEqual([mirror?.ID]);
    await controller.destroy({ name: 'bridge' }, ctx());
    expect(await mirrorsOf(host)).toEqual([]);
  }, 120_000);

  test('GP-R10: rules before the one for everything take their topics; a rule put in between disturbs no other', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using host = await startHere(plugins, { home: home.path });
    await using got = await collect(sink.port);
    const { commit } = repeaterOf(host);
    await commit(specOf(sink, { Rules: [{ sourcetopic: 'timer/sec/1', sinktopic: 'one' }], AllowAll: true }), 1);
    const before = (await mirrorsOf(host)).map(({ ID }) => ID);
    await until('both rules', () =>
      ['one', 'streams/sec/1'].every((topic) => got.messages.some((message) => message.topic === topic)),
    );
    expect(got.messages.map(({ topic }) => topic)).not.toContain('timer/sec/1');
    const two = { sourcetopic: 'streams/sec/1', sinktopic: 'two' };
    await commit(specOf(sink, { Rules: [two, { sourcetopic: 'timer/sec/1', sinktopic: 'one' }], AllowAll: true }), 2);
    await until('the new rule', () => got.messages.some(({ topic }) => topic === 'two'));
    expect((await mirrorsOf(host)).map(({ ID }) => ID)).toEqual(expect.arrayContaining(before));
  }, 120_000);

  test('a spec that would send messages round for ever is refused, whatever it shares the loop with', async () => {
    await using home = await temporaryHome();
    await using a = await startMosquitto();
    await using b = await startMosquitto();
    await using host = await startHere(['repeater'], { home: home.path });
    const { controller, commit } = repeaterOf(host);
    const between = (from: Mosquitto, to: Mosquitto, Rules: readonly object[], name: string) =>
      specOf(to, { Source: from.url, Rules }, name);
    await commit(between(a, b, [{ sourcetopic: 's/#', sinktopic: 'x/' }], 'there'), 1);
    const back = between(b, a, [{ sourcetopic: 'x/s/#', LocalPrefix: '', RemotePrefix: '', sinktopic: 's/' }], 'back');
    await expect(controller.commit({ spec: back, revision: 1 }, ctx())).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: expect.stringMatching(/round for ever: .*there s\/#.*back x\/s\/#/),
    });
    await commit(between(b, a, [{ sourcetopic: 'x/s/#', sinktopic: 'z/' }], 'back'), 1);
  }, 120_000);

  test('all faults of a spec are told at once, and no secret with them', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using host = await startHere(['repeater', 'time'], { home: home.path });
    const { controller } = repeaterOf(host);
    const Rules = [{ sourcetopic: 'a/#/b' }, { sourcetopic: 'a', sinktopic: 'x/+' }, { sourcetopic: 'a' }];
    const wrong = specOf(sink, { Rules });
    await expect(controller.commit({ spec: wrong, revision: 1 }, ctx())).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: expect.stringMatching(/more than one rule mirrors a/),
    });
    const secret = specOf(sink, { Sink: { URL: `mqtt://me:hunter2@127.0.0.1:${sink.port}` } });
    const refused = controller.commit(
      {
        spec: { ...secret, properties: { ...(secret.properties as object), Rules: [{ sourcetopic: 'a' }] } },
        revision: 1,
      },
      ctx(),
    );
    await expect(refused).rejects.toThrow(/Password as file:PATH or env:NAME/);
    await expect(refused).rejects.not.toThrow(/hunter2/);
  }, 120_000);

  test('a password is read from its file, and nobody is shown it', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto({ users: { me: 'hunter2' } });
    await using source = await startMosquitto();
    await using host = await startHere(['repeater'], { home: home.path });
    const { writeFile } = await import('node:fs/promises');
    await writeFile(`${home.path}/secret`, 'hunter2\n');
    const { commit, controller, rows } = repeaterOf(host);
    const Sink = { URL: `127.0.0.1:${sink.port}`, Username: 'me', Password: `file:${home.path}/secret` };
    await commit(specOf(sink, { Source: source.url, Sink, Rules: [{ sourcetopic: 's/#' }] }), 1);
    await publish(source.port, 's/x', 'hello');
    await until('the message', async () => (await rows())[0]?.Data.messages === 1);
    const shown = JSON.stringify([await controller.describe({ search: {} }, ctx()), await mirrorsOf(host)]);
    expect(shown).not.toContain('hunter2');
  }, 120_000);

  test('as published is refused where the source does not speak MQTT 5, unless RetainScan is set: then what it has retained is mirrored', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using host = await startHere(plugins, { home: home.path });
    const { controller, commit, rows } = repeaterOf(host);
    const rule = { sourcetopic: 'infrakit/plugins/#', sinktopic: 'far/', Retain: 'as-published' };
    const Source = { URL: host.url };
    await expect(
      controller.commit({ spec: specOf(sink, { Source, Rules: [rule] }), revision: 1 }, ctx()),
    ).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: expect.stringMatching(/needs a source that speaks MQTT 5.* RetainScan: 1m/),
    });

    await commit(specOf(sink, { Source, Rules: [{ ...rule, RetainScan: '1s' }] }), 1);
    const noteOf = async () => (await rows())[0]?.Data.notes ?? '';
    await until('a scan', async () => /^[1-9]\d* retained topics at /.test(await noteOf()));
    await using got = await collect(sink.port, 'far/#');
    await until('what is retained', () => got.messages.some((one) => one.retain));
    expect(got.messages.map(({ topic }) => topic)).toContainEqual(
      expect.stringMatching(/^far\/infrakit\/plugins\/time\//),
    );
  }, 120_000);

  test('a manager keeps the spec and gives it to the repeater', async () => {
    await using home = await temporaryHome();
    await using sink = await startMosquitto();
    await using host = await startHere(['manager:mystack', ...plugins], {
      home: home.path,
      pluginOptions: { mystack: { Controllers: ['repeater'] } },
    });
    await using got = await collect(sink.port);
    const { commit } = repeaterOf(host, 'mystack/repeater');
    await commit(specOf(sink, { Rules: [{ sourcetopic: 'timer/sec/1' }] }), 1);
    await until('events', () => got.messages.some(({ topic }) => topic === 'timer/sec/1'));
  }, 120_000);
});
