import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, type InstanceSpec } from '@infrakit/core';
import {
  direct,
  type Flavor,
  type FlavorSubject,
  flavorContract,
  flavorInterface,
  memoryFlavor,
  type Plugins,
  realAfter,
  type SpiOf,
  testingContext,
} from '@infrakit/spi';
import { NEVER } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { comboFlavor } from './combo.ts';
import { initScripts } from './init-script.ts';
import { vanillaFlavor } from './vanilla.ts';

const ctx = testingContext();
const allocation = { Size: 3 };
const index = { Group: 'g', Sequence: 1 };
const empty: InstanceSpec = { Properties: {}, Tags: {}, Init: '', LogicalID: null, Attachments: null };
const vanilla = (): Flavor => direct(flavorInterface, vanillaFlavor(initScripts(Date.now)), { after: realAfter });

const pluginsOf = (flavors: Readonly<Record<string, Flavor>>): Plugins => ({
  resolve: (_, name) => {
    const away = async (): Promise<never> => {
      throw new AppError('PLUGIN_UNKNOWN', `nothing answers to ${name}`);
    };
    const found = flavors[name] ?? { validate: away, prepare: away, healthy: away, drain: away };
    return found as unknown as SpiOf<typeof flavorInterface> as never;
  },
  watch: () => NEVER,
});

const combo = (flavors: Readonly<Record<string, Flavor>>): Flavor =>
  direct(flavorInterface, comboFlavor(pluginsOf(flavors)), { after: realAfter });

const prepare = async (flavor: Flavor, properties: unknown, spec = empty): Promise<InstanceSpec> =>
  (await flavor.prepare({ properties, spec, allocation, index }, ctx)).spec;

const subject =
  (flavor: Flavor, properties: unknown, invalid: unknown, words: readonly string[]) =>
  async (): Promise<FlavorSubject & AsyncDisposable> => ({
    flavor,
    properties,
    allocation,
    invalid: { properties: invalid, words },
    member: (n) => ({ ID: `m${n}`, LogicalID: null, Tags: {} }),
    isAdditive: true,
    isRepeatable: true,
    isEventuallyConsistent: false,
    [Symbol.asyncDispose]: async () => undefined,
  });

contractTests(
  flavorContract,
  subject(vanilla(), { Init: ['a'], Tags: { t: '1' } }, { Init: 7, Tags: 'x' }, ['Init', 'Tags']),
);
contractTests(
  flavorContract,
  subject(
    combo({ vanilla: vanilla() }),
    [{ Plugin: 'vanilla', Properties: { Init: ['a'], Tags: { t: '1' }, Attachments: [{ ID: 'v', Type: 'volume' }] } }],
    [
      { Plugin: 'vanilla', Properties: { Init: 7 } },
      { Plugin: 'vanilla', Properties: { Tags: 'x' } },
    ],
    ['Init', 'Tags'],
  ),
);

describe('vanilla (GP §2.9)', () => {
  test('empty properties change nothing', async () => {
    expect(await prepare(vanilla(), {})).toEqual(empty);
    expect(await prepare(vanilla(), null)).toEqual(empty);
  });

  test('init lines are joined, below what is there', async () => {
    expect((await prepare(vanilla(), { Init: ['line1', 'line2'] })).Init).toBe('line1\nline2');
    const before = { ...empty, Init: 'l0\nl1' };
    expect((await prepare(vanilla(), { Init: ['line2', 'line3'] }, before)).Init).toBe('l0\nl1\nline2\nline3');
  });

  test('tags merge and attachments append', async () => {
    const before = { ...empty, Tags: { t1: 'v1' }, Attachments: [{ ID: 'a0', Type: 'x' }] };
    const spec = await prepare(vanilla(), { Tags: { tag1: 'val1' }, Attachments: [{ ID: 'a1', Type: 'x' }] }, before);
    expect(spec.Tags).toEqual({ t1: 'v1', tag1: 'val1' });
    expect(spec.Attachments).toEqual([
      { ID: 'a0', Type: 'x' },
      { ID: 'a1', Type: 'x' },
    ]);
  });

  test('a template sets and reads variables', async () => {
    const InitScriptTemplateURL = 'str://{{ var "x" "value" }}echo {{ var "x" }}';
    expect((await prepare(vanilla(), { InitScriptTemplateURL })).Init).toBe('echo value');
  });

  test('both Init and a template, an unknown function, a file that is not there: refused by validate', async () => {
    const validate = (properties: unknown) => vanilla().validate({ properties, allocation }, ctx);
    await expect(validate({ Init: ['a'], InitScriptTemplateURL: 'str://b' })).rejects.toThrow(
      'Either "Init" or "InitScriptTemplateURL" can be specified but not both',
    );
    await expect(validate({ InitScriptTemplateURL: 'str://{{ nosuch }}' })).rejects.toThrow('nosuch');
    await expect(validate({ InitScriptTemplateURL: 'file:///nonexistent/x' })).rejects.toMatchObject({
      code: 'FLAVOR_INVALID',
    });
    await expect(validate('no object')).rejects.toMatchObject({ code: 'FLAVOR_INVALID' });
  });

  test('GP-F4: a template that can no longer be fetched is used as it was', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flavor-'));
    const path = join(folder, 'init.sh');
    await writeFile(path, 'echo {{ .Index.Sequence }}');
    let nowMs = 0;
    const flavor = vanillaFlavor(initScripts(() => nowMs));
    const properties = { InitScriptTemplateURL: pathToFileURL(path).href };
    expect((await prepare(flavor, properties)).Init).toBe('echo 1');
    await rm(folder, { recursive: true });
    nowMs += 60_000;
    expect((await prepare(flavor, properties)).Init).toBe('echo 1');
  });
});

describe('combo (GP §2.9)', () => {
  const two = (a: unknown, b: unknown) => [
    { Plugin: 'a', Properties: a },
    { Plugin: 'b', Properties: b },
  ];
  const flavors = { a: vanilla(), b: vanilla() };

  test('tags of later members win, init and attachments append, an absent logical id stays absent', async () => {
    const before = { ...empty, Attachments: [{ ID: 'o', Type: 'x' }] };
    const spec = await prepare(
      combo(flavors),
      two(
        { Tags: { a: '1', c: '4' }, Init: ['init data a'], Attachments: [{ ID: 'va', Type: 'x' }] },
        { Tags: { b: '2', c: '5' }, Init: ['init data b'], Attachments: [{ ID: 'vb', Type: 'x' }] },
      ),
      before,
    );
    expect(spec.Tags).toEqual({ a: '1', b: '2', c: '5' });
    expect(spec.Init).toBe('init data a\ninit data b');
    expect(spec.Attachments?.map(({ ID }) => ID)).toEqual(['o', 'va', 'vb']);
    expect(spec.LogicalID).toBeNull();
  });

  test('GP-F2: what was given is not repeated by each member', async () => {
    const before = { ...empty, Init: 'given', Attachments: [{ ID: 'o', Type: 'x' }] };
    const spec = await prepare(combo(flavors), two({ Init: ['a'] }, { Init: ['b'] }), before);
    expect(spec.Init).toBe('given\na\nb');
    expect(spec.Attachments).toEqual([{ ID: 'o', Type: 'x' }]);
  });

  test('GP-F1: members are validated, each fault with its member', async () => {
    const validate = combo(flavors).validate({ properties: two({ Init: 1 }, { Tags: 2 }), allocation }, ctx);
    await expect(validate).rejects.toThrow(/a: Init.*b: Tags/);
  });

  test('GP-F3: a member that is away is an error with its name, others are still drained', async () => {
    const { flavor: present, world } = memoryFlavor();
    const drained = combo({ b: present }).drain(
      { properties: two({}, {}), instance: { ID: 'm1', LogicalID: null, Tags: null } },
      ctx,
    );
    await expect(drained).rejects.toThrow('a: nothing answers to a');
    expect(world.drained()).toEqual(['m1']);
  });

  test('the first member that is not healthy decides', async () => {
    const sick = memoryFlavor();
    sick.world.setHealth('m1', 'unhealthy');
    const answer = await combo({ a: vanilla(), b: sick.flavor }).healthy(
      { properties: two({}, {}), instances: ['m1', 'm2'].map((ID) => ({ ID, LogicalID: null, Tags: null })) },
      ctx,
    );
    expect(answer.health).toEqual([
      { id: 'm1', health: 'unhealthy' },
      { id: 'm2', health: 'healthy' },
    ]);
  });

  test('each member is asked about the health of many instances at once, a later one only about those that are left', async () => {
    const sick = memoryFlavor();
    sick.world.setHealth('m1', 'unhealthy');
    const asked: string[][] = [];
    const listening = (flavor: Flavor): Flavor => ({
      ...flavor,
      healthy: (params, callCtx) => {
        asked.push(params.instances.map(({ ID }) => ID));
        return flavor.healthy(params, callCtx);
      },
    });
    await combo({ a: listening(sick.flavor), b: listening(vanilla()) }).healthy(
      { properties: two({}, {}), instances: ['m1', 'm2', 'm3'].map((ID) => ({ ID, LogicalID: null, Tags: null })) },
      ctx,
    );
    expect(asked).toEqual([
      ['m1', 'm2', 'm3'],
      ['m2', 'm3'],
    ]);
  });
});
