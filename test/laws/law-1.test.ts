import { AppError } from '@infrakit/core';
import type { Source } from '@infrakit/runtime';
import type { Fault } from '@infrakit/spi';
import { describe, expect, test } from 'vitest';
import { type Item, items, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const all = items(10);
const half = all.slice(0, 5);

const idsOf = (members: readonly Item[]): string[] => members.map(({ id }) => id);

const destroys = (law: LawWorld): string[] => law.writes.filter((write) => write.startsWith('destroy'));

/** What a source may say or do instead of being known as a whole, while half of its members or all of them are gone. */
const sourceFaults: readonly (readonly [string, Source<Item> | (() => Promise<Source<Item>>)])[] = [
  ['error', () => Promise.reject(new AppError('PLUGIN_UNAVAILABLE', 'gone'))],
  ['no AppError at all', () => Promise.reject(new TypeError('x is not a function'))],
  ['timeout', () => new Promise(() => {})],
  ['partial', { kind: 'partial', reason: 'one zone did not answer', items: half }],
  ['undecodable, told', () => Promise.reject(new AppError('RESULT_INVALID', 'not a membership'))],
  ['undecodable, untold', async () => ({ garbage: true }) as unknown as Source<Item>],
  ['unknown', { kind: 'unknown', reason: 'starting' }],
  ['empty but partial', { kind: 'partial', reason: 'nobody answered', items: [] }],
  ['empty while it wants ten', known([], { target: 10 })],
  ['half gone at once while it wants ten', known(half, { target: 10 })],
];

describe('Law 1: only a source that is known as a whole may cause a destroy', () => {
  test.each(sourceFaults)('source: %s', async (_, fault) => {
    const law = lawWorld();
    await law.enroll(all);
    law.setSource(fault);
    law.trigger();
    await law.run(600_000);
    expect(law.outcomes.length).toBeGreaterThan(0);
    expect(destroys(law)).toEqual([]);
    expect(law.enrolled()).toEqual(idsOf(all));

    law.setSource(known(items(11)));
    law.trigger();
    await law.run(12_000);
    expect(law.enrolled()).toEqual(idsOf(items(11)));
    expect(law.world.made()).toBe(11);
    expect(law.last()).toMatchObject({ kind: 'completed', held: null });
  });

  test.each(sourceFaults)('cold restart into a source that is: %s', async (_, fault) => {
    const law = lawWorld();
    await law.enroll(all);
    law.kill();
    law.setSource(fault);
    law.start();
    await law.run(600_000);
    expect(destroys(law)).toEqual([]);
    expect(law.enrolled()).toEqual(idsOf(all));
    law.restart();
    law.setSource(known(items(11)));
    await law.run(12_000);
    expect(law.enrolled()).toEqual(idsOf(items(11)));
    expect(law.world.made()).toBe(11);
  });

  test('a partial source still creates', async () => {
    const law = lawWorld();
    await law.enroll(half);
    law.setSource({ kind: 'partial', reason: 'one zone did not answer', items: all.slice(4) });
    law.trigger();
    await law.run();
    expect(law.enrolled()).toEqual(idsOf(all));
  });

  test('a partial source replaces nothing', async () => {
    const law = lawWorld({ settings: { onChange: 'replace' } });
    await law.enroll([{ id: 'a', content: 'v1' }]);
    law.setSource({ kind: 'partial', reason: 'torn', items: [{ id: 'a', content: 'v2' }] });
    law.trigger();
    await law.run(60_000);
    expect(law.writes).toEqual([]);
  });
});

const sinkFaults: readonly (readonly [string, Fault])[] = [
  ['error', { kind: 'error' }],
  ['timeout', { kind: 'timeout' }],
  ['answer lost', { kind: 'lose-answer' }],
  ['answer after the deadline', { kind: 'late', ms: 15_000 }],
  ['undecodable', { kind: 'undecodable' }],
];

describe('Law 1: a sink that cannot be read is left alone', () => {
  test.each(sinkFaults)('describe: %s, while two members are gone', async (_, fault) => {
    const law = lawWorld();
    await law.enroll(all);
    law.faults.describe = fault;
    law.setSource(known(all.slice(2), { target: 10 }));
    law.trigger();
    await law.run(600_000);
    expect(law.writes).toEqual([]);
    expect(law.last()).toMatchObject({ kind: 'failed', at: 'sink' });

    law.faults.describe = undefined;
    await law.run(30_000);
    expect(law.enrolled()).toEqual(idsOf(all.slice(2)));
  });

  test.each(sinkFaults)('destroy: %s; it ends up done, once, and nothing else goes', async (_, fault) => {
    const law = lawWorld();
    await law.enroll(all);
    law.faults.destroy = fault;
    law.setSource(known(all.slice(2), { target: 10 }));
    law.trigger();
    await law.run(60_000);
    law.faults.destroy = undefined;
    await law.run(600_000);
    expect(law.enrolled()).toEqual(idsOf(all.slice(2)));
    expect(law.last()).toMatchObject({ kind: 'completed', held: null });
  });

  test('describe: short; what it leaves out is neither destroyed nor made twice', async () => {
    const law = lawWorld();
    await law.enroll(all);
    law.faults.describe = { kind: 'short', isDropped: ({ ID }) => ID > 'i-000004' };
    law.trigger();
    await law.run(600_000);
    expect(destroys(law)).toEqual([]);
    law.faults.describe = undefined;
    law.trigger();
    await law.run(60_000);
    expect(law.enrolled()).toEqual(idsOf(all));
    expect(law.world.made()).toBe(10);
    expect(destroys(law)).toEqual([]);
  });

  test('describe: short down to nothing, while a member is gone', async () => {
    const law = lawWorld();
    await law.enroll(all);
    law.faults.describe = { kind: 'short', isDropped: () => true };
    law.setSource(known(all.slice(1), { target: 10 }));
    law.trigger();
    await law.run(60_000);
    expect(destroys(law)).toEqual([]);
    law.faults.describe = undefined;
    await law.run(60_000);
    expect(law.enrolled()).toEqual(idsOf(all.slice(1)));
  });
});
