import type { PluginAdvertisement } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { lamp, lampInterface } from '../contract/bus-scene.ts';
import { advertisementOf } from './advertise.ts';
import { activeOf, type PluginRecord } from './plugin-record.ts';
import { presenceOf, type RouteView, routeCall } from './plugin-route.ts';
import { proxyTable } from './proxy-table.ts';

const record = (
  plugin: string,
  parts: Partial<PluginRecord & { readonly objects: ReturnType<typeof lamp>[] }> = {},
): PluginRecord => {
  const { objects = [], ...rest } = parts;
  const advertisement: PluginAdvertisement = advertisementOf('n', objects, { role: 'active' });
  return { plugin, incarnation: `${plugin}.1`, advertisement, process: { pid: 1, host: 'h', version: '1' }, ...rest };
};

const viewOf = (records: readonly PluginRecord[], isReady = true): RouteView => {
  const incarnations = (plugin: string) => records.filter((each) => each.plugin === plugin);
  const plugins = () => [...new Set(records.map(({ plugin }) => plugin))];
  const active = (plugin: string) => activeOf(incarnations(plugin));
  const { find } = proxyTable(() => plugins().flatMap((plugin) => active(plugin) ?? []));
  return { active, incarnations, plugins, proxyOf: find, isReady: () => isReady };
};

const group = record('group', { objects: [lamp('cattle', 'g'), lamp('', 'g')] });
const manager = record('mystack', {
  objects: [lamp('cattle', 'm', 'group/cattle'), lamp('ghost', 'm', 'group/ghost')],
});
const standby = record('waiting', { advertisement: advertisementOf('n', [], { role: 'standby' }) });
const orphan = record('gone', { process: undefined });
const view = viewOf([group, manager, standby, orphan]);

const route = (name: string, methodName: 'look' | 'light', caller?: string) =>
  routeCall(view, { name, description: lampInterface, methodName, method: lampInterface.methods[methodName], caller });

describe('routeCall (DESIGN §3)', () => {
  it.each([
    ['group/cattle', 'look', undefined, { plugin: 'group', object: 'cattle', incarnation: 'group.1' }],
    ['group', 'light', undefined, { plugin: 'group', object: '', incarnation: 'group.1' }],
    ['group/', 'light', undefined, { plugin: 'group', object: '', incarnation: 'group.1' }],
    ['mystack/cattle', 'look', undefined, { plugin: 'group', object: 'cattle', incarnation: 'group.1' }],
    ['mystack/cattle', 'light', undefined, { plugin: 'mystack', object: 'cattle', incarnation: 'mystack.1' }],
    [
      'group/cattle',
      'light',
      'mystack',
      { plugin: 'group', object: 'cattle', incarnation: 'group.1', via: 'mystack/cattle' },
    ],
  ] as const)('%s %s of %s', (name, method, caller, expected) => {
    expect(route(name, method, caller)).toEqual(expected);
  });

  it.each([
    ['group/cattle', 'light', 'OBJECT_MANAGED', { proxy: 'mystack/cattle' }],
    ['grup/cattle', 'look', 'PLUGIN_UNKNOWN', { near: 'group' }],
    ['nothing', 'look', 'PLUGIN_UNKNOWN', {}],
    ['group/catle', 'look', 'OBJECT_UNKNOWN', { near: 'cattle' }],
    ['mystack', 'look', 'OBJECT_UNKNOWN', {}],
    ['mystack/ghost', 'look', 'OBJECT_UNKNOWN', { plugin: 'group' }],
    ['waiting', 'look', 'LEADER_NOT', {}],
    ['gone', 'look', 'PLUGIN_UNAVAILABLE', {}],
    ['/x', 'look', 'NAME_INVALID', {}],
  ] as const)('%s %s is %s', (name, method, code, facts) => {
    expect(() => route(name, method)).toThrow(expect.objectContaining({ code, facts: expect.objectContaining(facts) }));
  });

  it('another plugin than the manager may not change what is managed', () => {
    expect(() => route('group/cattle', 'light', 'group')).toThrow(expect.objectContaining({ code: 'OBJECT_MANAGED' }));
  });

  it('an interface that is not there and a major version that differs are told apart', () => {
    const call = (parts: object) => () =>
      routeCall(view, {
        name: 'group',
        description: { ...lampInterface, ...parts },
        methodName: 'look',
        method: lampInterface.methods.look,
      });
    expect(call({ name: 'Radio' })).toThrow(expect.objectContaining({ code: 'METHOD_UNKNOWN' }));
    expect(call({ version: '2.0.0' })).toThrow(expect.objectContaining({ code: 'INTERFACE_VERSION' }));
    expect(call({ version: '1.0.0' })()).toMatchObject({ plugin: 'group' });
  });
});

describe('presenceOf', () => {
  it('is that of the target, for a name that stands for another', () => {
    expect(presenceOf(view, 'mystack/cattle')).toEqual({
      kind: 'online',
      plugin: 'group',
      incarnation: 'group.1',
      interfaces: ['Lamp/1.2.0'],
    });
    expect(presenceOf(view, 'mystack/ghost')).toMatchObject({ kind: 'offline' });
  });

  it('a plugin is there also when only its objects answer', () => {
    expect(presenceOf(view, 'mystack')).toMatchObject({ kind: 'online', interfaces: ['Lamp/1.2.0'] });
  });

  it.each(['waiting', 'gone', 'nothing', 'group/x', '/bad'])('%s is offline with a reason', (name) => {
    expect(presenceOf(view, name)).toEqual({ kind: 'offline', reason: expect.stringMatching(/./) });
  });

  it('before discovery is complete the reason is that', () => {
    expect(presenceOf(viewOf([], false), 'group')).toMatchObject({ reason: expect.stringContaining('not known yet') });
  });

  it('has the term of who leads', () => {
    const led = record('group', { advertisement: advertisementOf('n', [], { role: 'active', term: 4 }) });
    expect(presenceOf(viewOf([led]), 'group')).toMatchObject({ kind: 'online', term: 4 });
  });
});
