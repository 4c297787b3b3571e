import type { Spec } from '@infrakit/core';
import { compile, instanceData, unescape as unescapeBraces } from '@infrakit/template';
import { describe, expect, test } from 'vitest';
import { type EnrollmentWorld, enrollmentWorld } from '../../../test/enrollment/world.ts';

const sourceID = 'infrakit.enrollment.sourceID';
const backend = '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.backend_id \\}\\}';
const enrolledId = '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.ID \\}\\}';

/** What the first round asked of the sink, without our owner label (DESIGN §4): P(x) and D(x). */
const asked = (w: EnrollmentWorld): unknown[] =>
  firstRound(w).flatMap((call): unknown[] => {
    if (call.call === 'provision') {
      const { 'infrakit.enrollment.owner': _, ...tags } = call.tags;
      return [['P', call.properties, tags]];
    }
    return call.call === 'destroy' ? [['D', call.id, call.reason]] : [];
  });

const firstRound = ({ calls }: EnrollmentWorld) => {
  const second = calls.findIndex(({ call }, index) => index > 0 && call === 'describe');
  return calls.slice(0, second < 0 ? calls.length : second);
};

const provision = (properties: object, id: string) => [
  'P',
  properties,
  { [sourceID]: id, 'infrakit.enrollment.name': 'nfs' },
];
const destroy = (id: string) => ['D', id, 'terminate'];

const put = (w: EnrollmentWorld, id: string, over: { Tags?: Record<string, string>; Properties?: unknown }): void =>
  w.world.put({ description: { ID: id, LogicalID: null, Tags: null, ...over }, key: undefined });

const spec = (List: unknown, Properties: unknown, options: object): Spec => ({
  kind: 'enrollment',
  metadata: { name: 'nfs' },
  properties: { List, Instance: { Plugin: 'nfs-auth/disk', Properties } },
  options,
});

const sources = (...ids: readonly unknown[]) =>
  ids.map((id, index) => ({
    ID: `instance-${index + 1}`,
    ...(id === undefined ? {} : { Properties: id === null ? {} : { backend_id: id } }),
  }));

/** What was there before us goes by the budget of its own kind here: the old system had none (DESIGN §4). */
const old = { MaxDestroyPercent: 100, AllowUntaggedDestroy: true };

describe('EI §1.14: the catalogue through the controller', () => {
  test('6, 7: P(h3), then D(nfs5); entries that carry only a sourceID are those of an old system', async () => {
    const w = await enrollmentWorld();
    for (const [id, from] of [
      ['nfs1', 'h1'],
      ['nfs2', 'h2'],
      ['nfs5', 'h5'],
    ] as const) {
      put(w, id, { Tags: { [sourceID]: from } });
    }
    const list = ['h1', 'h2', 'h3'].map((ID) => ({ ID }));
    const options = { SourceKeySelector: '\\{\\{.ID\\}\\}', AllowUntaggedDestroy: true };
    await w.commit(spec(list, { host: '\\{\\{.ID\\}\\}', iops: 10 }, options));
    await w.soon();
    expect(asked(w)).toEqual([provision({ host: 'h3', iops: 10 }, 'h3'), destroy('nfs5')]);
    await w.stop();
  });

  test('8, 9: keys from properties on both sides: P(3), then D(4), nothing else', async () => {
    const w = await enrollmentWorld();
    for (const id of ['1', '2', '4']) put(w, id, {});
    const options = {
      SourceKeySelector: backend,
      EnrollmentKeySelector: '\\{\\{.ID\\}\\}',
      DestroyOnTerminate: true,
      ...old,
    };
    await w.commit(spec(sources('1', '2', '3'), { backend_id: backend }, options));
    await w.soon();
    expect(asked(w)).toEqual([provision({ backend_id: '3' }, 'instance-3'), destroy('4')]);
    await w.stop();
  });

  test.each([
    ['10 DisableDestroy: nothing is destroyed', { SourceParseErrPolicy: 'DisableDestroy' }, []],
    ['10/11 unnamed: Law 5 wins, they stay while a source key is unknown', {}, []],
    [
      '11 EnableDestroy: 2, 3, 4 go; Law 6 wins, they are all there is, so somebody must approve it',
      { SourceParseErrPolicy: 'EnableDestroy' },
      ['2', '3', '4'],
    ],
  ])('%s', async (_, policy, gone) => {
    const w = await enrollmentWorld();
    for (const id of ['2', '3', '4']) put(w, id, {});
    const list = [...sources('1', undefined), { ID: 'instance-3', Properties: {} }];
    const options = { SourceKeySelector: backend, EnrollmentKeySelector: '\\{\\{.ID\\}\\}', ...old, ...policy };
    await w.commit(spec(list, { backend_id: backend }, options));
    await w.soon();
    expect(asked(w)).toEqual([provision({ backend_id: '1' }, 'instance-1')]);
    const before = w.calls.length;
    const approved = w.controller().approve({ name: 'nfs' }, w.ctx);
    if (gone.length === 0) await expect(approved).rejects.toMatchObject({ code: 'PLAN_STALE' });
    else await approved;
    await w.soon();
    expect(w.calls.slice(before).flatMap((one) => (one.call === 'destroy' ? [one.id] : []))).toEqual(gone);
    await w.stop();
  });

  test.each([
    ['12 EnableProvision', { EnrollmentParseErrPolicy: 'EnableProvision' }, ['2', '3']],
    ['13 DisableProvision: nothing is provisioned', { EnrollmentParseErrPolicy: 'DisableProvision' }, []],
    ['12/13 unnamed: untagged entries without a key are foreign (Law 4)', {}, ['2', '3']],
  ])('%s', async (_, policy, made) => {
    const w = await enrollmentWorld();
    put(w, 'instance-1', { Properties: { ID: '1' } });
    put(w, 'instance-2', { Properties: {} });
    put(w, 'instance-3', {});
    put(w, 'instance-4', { Properties: { ID: '4' } });
    const options = { SourceKeySelector: backend, EnrollmentKeySelector: enrolledId, ...old, ...policy };
    await w.commit(spec(sources('1', '2', '3'), { backend_id: backend }, options));
    await w.soon();
    expect(asked(w)).toEqual([
      ...made.map((id) => provision({ backend_id: id }, `instance-${id}`)),
      destroy('instance-4'),
    ]);
    await w.stop();
  });

  test('14–16: a spec with an unknown policy is refused, the rule in force stays; a good one is taken over', async () => {
    const w = await enrollmentWorld();
    const withOptions = (options: object) =>
      spec([{ ID: 'h1' }], { host: 'x' }, { EnrollmentKeySelector: '\\{\\{.ID\\}\\}', ...options });
    await w.commit(withOptions({}));
    await expect(
      w.commit(withOptions({ SourceParseErrPolicy: 'foo', EnrollmentParseErrPolicy: 'DisableProvision' })),
    ).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      message: "SourceParseErrPolicy value 'foo' is not supported, valid values: [EnableDestroy DisableDestroy]",
    });
    await expect(
      w.commit(withOptions({ SourceParseErrPolicy: 'DisableDestroy', EnrollmentParseErrPolicy: 'foo' })),
    ).rejects.toThrow(
      "EnrollmentParseErrPolicy value 'foo' is not supported, valid values: [EnableProvision DisableProvision]",
    );
    expect((await w.describe('nfs'))[0]?.options).toEqual({ EnrollmentKeySelector: '\\{\\{.ID\\}\\}' });
    const good = { SourceParseErrPolicy: 'DisableDestroy', EnrollmentParseErrPolicy: 'DisableProvision' };
    await w.commit(withOptions(good));
    expect((await w.describe('nfs'))[0]?.options).toMatchObject(good);
    await w.stop();
  });

  test('31, 32: a document compiled as one template keeps everything but what is rendered', () => {
    const render = (text: string) => compile(unescapeBraces(text)).render(instanceData({ ID: 'hello' }));
    const options = '{\n  "SourceKeySelector" : "\\\\{\\\\{.ID\\\\}\\\\}"\n}';
    expect(render(options)).toBe('{\n  "SourceKeySelector" : "hello"\n}');
    const properties = '{"List":[{"ID":"h1"}],"Instance":{"Properties":{"ID":"\\\\{\\\\{.ID\\\\}\\\\}"}}}';
    expect(JSON.parse(render(properties))).toEqual({
      List: [{ ID: 'h1' }],
      Instance: { Properties: { ID: 'hello' } },
    });
  });

  test('B of §1.13: cautious policies; a source without a template is passed on as its description', async () => {
    const w = await enrollmentWorld();
    for (const id of ['9', '12']) put(w, id, {});
    const list = [
      { ID: 'web-a', Properties: { slot: 7 } },
      { ID: 'web-b', Properties: { slot: 9 } },
    ];
    const options = {
      SourceKeySelector: '\\{\\{ $p := .Properties | jsonDecode \\}\\}\\{\\{ int $p.slot \\}\\}',
      EnrollmentKeySelector: '\\{\\{ .ID \\}\\}',
      SourceParseErrPolicy: 'DisableDestroy',
      EnrollmentParseErrPolicy: 'DisableProvision',
      ...old,
    };
    await w.commit(spec(list, undefined, options));
    await w.soon();
    const properties = { ID: 'web-a', LogicalID: null, Tags: null, Properties: { slot: 7 } };
    expect(asked(w)).toEqual([provision(properties, 'web-a'), destroy('12')]);
    await w.stop();
  });
});
