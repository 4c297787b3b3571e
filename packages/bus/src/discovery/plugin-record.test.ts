import type { PluginAdvertisement } from '@infrakit/core';
import { describe, expect, it } from 'vitest';
import { activeOf, advertisedNames, compareIncarnations, type PluginRecord } from './plugin-record.ts';

const record = (incarnation: string, parts: Partial<PluginAdvertisement> = {}, isOnline = true): PluginRecord => ({
  plugin: 'p',
  incarnation,
  advertisement: { process: 'n', role: 'active', interfaces: [], ...parts },
  process: isOnline ? { pid: 1, host: 'h', version: '1' } : undefined,
});

describe('activeOf (DESIGN §3: online iff the process topic exists; the highest term wins)', () => {
  it.each([
    ['nobody', [], undefined],
    ['the one that is there', [record('a.1')], 'a.1'],
    ['none whose process is gone', [record('a.1', { term: 9 }, false), record('b.1')], 'b.1'],
    ['no standby', [record('a.1', { role: 'standby', term: 9 })], undefined],
    ['the highest term', [record('a.1', { term: 1 }), record('b.1', { term: 3 }), record('c.1', { term: 2 })], 'b.1'],
    ['a term before none', [record('a.1'), record('b.1', { term: 1 })], 'b.1'],
    ['else the lowest nonce', [record('c.1'), record('a.1'), record('b.1')], 'a.1'],
    ['of one process the newest', [record('a.9'), record('a.10')], 'a.10'],
  ])('%s', (_, records, incarnation) => {
    expect(activeOf(records)?.incarnation).toBe(incarnation);
    expect(activeOf([...records].reverse())?.incarnation).toBe(incarnation);
  });

  it('incarnations are ordered by nonce, then newest first', () => {
    expect(['b.1', 'a.2', 'a.10'].sort(compareIncarnations)).toEqual(['a.10', 'a.2', 'b.1']);
  });
});

describe('advertisedNames', () => {
  it('gives each object its interfaces and what it stands for', () => {
    const { advertisement } = record('a.1', {
      interfaces: [
        { name: 'Group', version: '1.0.0', objects: [{ name: 'x', proxyFor: 'group/x' }] },
        { name: 'Controller', version: '1.1.0', objects: [{ name: 'x' }, { name: '' }] },
      ],
    });
    const names = advertisedNames(advertisement);
    expect([...(names.get('x')?.interfaces ?? [])]).toEqual([
      ['Group', '1.0.0'],
      ['Controller', '1.1.0'],
    ]);
    expect(names.get('x')?.proxyFor).toBe('group/x');
    expect(names.get('')?.proxyFor).toBeUndefined();
    expect(advertisedNames(advertisement)).toBe(names);
  });
});
