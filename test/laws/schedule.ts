import { AppError, type InstanceDescription } from '@infrakit/core';
import type { Source } from '@infrakit/runtime';
import type { Fault } from '@infrakit/spi';
import fc from 'fast-check';
import { type Item, known } from './source.ts';
import { type LawWorld, lawWorld } from './world.ts';

const names = Array.from({ length: 10 }, (_, n) => `m${n}`);

const kinds = ['error', 'timeout', 'lose-answer', 'undecodable', 'late'] as const;

const faultOf = (kind: (typeof kinds)[number]): Fault => (kind === 'late' ? { kind, ms: 15_000 } : { kind });

const id = fc.constantFrom(...names);

/** One thing that happens, how often the loop is told of it, and how long nothing else happens. */
const step = fc.record({
  event: fc.oneof(
    fc.record({ kind: fc.constantFrom('lose', 'return', 'join', 'scale away', 'remove behind', 'add foreign'), id }),
    fc.record({ kind: fc.constant('source'), is: fc.constantFrom('known', 'partial', 'unknown', 'error', 'hang') }),
    fc.record({
      kind: fc.constant('sink'),
      method: fc.constantFrom('provision', 'destroy', 'describe', 'label'),
      is: fc.constantFrom(...kinds),
    }),
    fc.record({
      kind: fc.constant('journal'),
      call: fc.constantFrom('read', 'write'),
      is: fc.constantFrom('error', 'hang'),
    }),
    fc.record({ kind: fc.constantFrom('heal', 'restart', 'empty') }),
  ),
  told: fc.constantFrom('not at all', 'before', 'once', 'twice'),
  waitMs: fc.constantFrom(0, 1, 100, 700, 3_000, 15_000, 60_000, 3_600_000),
});
type Event = (typeof step extends fc.Arbitrary<infer S> ? S : never)['event'];

/** What happens to a world, and whether its sink honours keys. */
export const schedule = fc.record({
  hasKeys: fc.boolean(),
  seed: fc.nat(1_000),
  steps: fc.array(step, { maxLength: 40, size: 'max' }),
});
export type Schedule = typeof schedule extends fc.Arbitrary<infer S> ? S : never;

/** The group that the source speaks of: who is wanted, who of them is there, and who left by an act of the group. */
interface Group {
  readonly wanted: Set<string>;
  readonly there: Set<string>;
  readonly left: Set<string>;
  isEmptied: boolean;
}

const readingOf = (group: Group): Source<Item> =>
  group.isEmptied
    ? known([], { target: 0 })
    : known(
        [...group.there].map((one) => ({ id: one })),
        {
          target: group.wanted.size,
          departures: [...group.left].map((ID) => ({ ID, Cause: 'scale', Revision: 1 })),
        },
      );

const changeGroup = (group: Group, kind: string, one: string): void => {
  if (kind === 'lose') group.there.delete(one);
  else if (kind === 'scale away') {
    if (group.wanted.delete(one)) group.left.add(one);
    group.there.delete(one);
  } else if (kind === 'join') group.wanted.add(one);
  if (kind === 'join' || (kind === 'return' && group.wanted.has(one))) {
    group.there.add(one);
    group.left.delete(one);
    group.isEmptied = false;
  }
};

/** Watches what a loop reads and destroys, and says which law a destroy breaks. */
const watcher = () => {
  let last: Source<Item> = { kind: 'unknown', reason: 'not read yet' };
  let spent = new Set<string>();
  const breach = (law: LawWorld, sourceId: string): string | undefined => {
    const source = last;
    if (source.kind !== 'known') return `Law 1: ${sourceId} is destroyed while the source is ${source.kind}`;
    const own = law.enrolled();
    if (own.filter((one) => one === sourceId).length > 1) return undefined;
    if (source.items.some((item) => item.id === sourceId)) return `Law 3: ${sourceId} is destroyed though wanted`;
    if (source.target === 0 || source.departures?.some(({ ID }) => ID === sourceId)) return undefined;
    spent.add(sourceId);
    if (spent.size > 3) return `Law 6: ${[...spent].join()} are destroyed unexplained, where 3 may be`;
    return own.length > 1 ? undefined : `Law 6: ${sourceId}, the last entry, is destroyed unexplained`;
  };
  const breaches: string[] = [];
  return {
    breaches,
    read: (source: Source<Item>): Source<Item> => {
      last = source;
      if (source.kind === 'known' && (source.count ?? 0) >= (source.target ?? 0)) spent = new Set();
      return source;
    },
    approved: (): void => {
      spent = new Set();
    },
    destroying: (law: LawWorld, sourceId: string): void => {
      const found = breach(law, sourceId);
      if (found !== undefined) breaches.push(found);
    },
  };
};

const sourceOf = (is: string, group: Group, watch: ReturnType<typeof watcher>) => async (): Promise<Source<Item>> => {
  if (is === 'known') return watch.read(readingOf(group));
  const unknown = watch.read({ kind: 'unknown', reason: 'starting' });
  if (is === 'error') throw new AppError('PLUGIN_UNAVAILABLE', 'gone');
  if (is === 'hang') return new Promise(() => {});
  return is === 'partial' ? watch.read({ kind: 'partial', reason: 'torn', items: [] }) : unknown;
};

/**
 * Plays a schedule: no law may be broken on the way; when the faults are over and everybody wanted is back, one resync
 * without any trigger (and the approval of what is held) leads to what is desired. Throws what was broken.
 */
export const play = async ({ hasKeys, seed, steps }: Schedule): Promise<void> => {
  const group: Group = {
    wanted: new Set(names.slice(0, 6)),
    there: new Set(names.slice(0, 6)),
    left: new Set(),
    isEmptied: false,
  };
  const watch = watcher();
  const law: LawWorld = lawWorld({
    hasKeys,
    seed,
    around: (call, act) => {
      const [verb, one = ''] = call.split(' ');
      if (verb === 'destroy') watch.destroying(law, one);
      return act();
    },
  });
  const foreign: InstanceDescription[] = [];

  const apply = async (event: Event): Promise<void> => {
    switch (event.kind) {
      case 'source':
        law.setSource(sourceOf(event.is, group, watch));
        return;
      case 'sink':
        law.faults[event.method] = faultOf(event.is);
        return;
      case 'journal':
        law.journalFaults[event.call] = event.is;
        return;
      case 'heal':
        return heal();
      case 'restart':
        return law.restart();
      case 'empty':
        group.isEmptied = true;
        return;
      case 'remove behind': {
        const found = law.world.all().find(({ Tags }) => Tags?.['infrakit.enrollment.sourceID'] === event.id);
        if (found !== undefined && !foreign.includes(found)) await law.world.removeBehind(found.ID);
        return;
      }
      case 'add foreign': {
        const made = await law.world.addForeign({
          'infrakit.enrollment.owner': 'stack/enrollment/other',
          'infrakit.enrollment.sourceID': event.id,
        });
        const thing = law.world.find(made);
        if (thing !== undefined) foreign.push(thing.description);
        return;
      }
      default:
        changeGroup(group, event.kind, event.id);
    }
  };
  const heal = (): void => {
    law.faults.provision = law.faults.destroy = law.faults.describe = law.faults.label = undefined;
    law.journalFaults.read = law.journalFaults.write = undefined;
    law.setSource(sourceOf('known', group, watch));
  };

  law.setSource(sourceOf('known', group, watch));
  law.start();
  await law.run(12_000);
  for (const { event, told, waitMs } of steps) {
    if (told === 'before') law.trigger();
    await apply(event);
    if (told === 'once' || told === 'twice') law.trigger();
    if (told === 'twice') law.trigger();
    await law.run(waitMs);
  }

  heal();
  group.isEmptied = false;
  for (const one of group.wanted) changeGroup(group, 'return', one);
  await law.run(600_000);
  const now = law.last();
  if (now.kind === 'completed' && now.held !== null) {
    watch.approved();
    await law.approve();
    await law.run(600_000);
  }
  expectConverged(law, [...group.wanted].sort(), foreign);
  const writes = law.writes.length;
  await law.run(600_000);
  if (law.writes.length > writes) throw new Error(`Law 8: idle, but ${law.writes.slice(writes).join(', ')}`);
  law.kill();
  if (watch.breaches.length > 0) throw new Error(watch.breaches.join('; '));
};

const expectConverged = (law: LawWorld, wanted: readonly string[], foreign: readonly InstanceDescription[]): void => {
  const last = law.last();
  if (law.enrolled().join() !== wanted.join()) {
    throw new Error(`it does not converge: wanted ${wanted.join()}, there is ${law.enrolled().join()}`);
  }
  if (last.kind !== 'completed' || last.held !== null || last.failures.length > 0) {
    throw new Error(`it is not at rest: ${JSON.stringify(last)}`);
  }
  for (const one of foreign) {
    if (law.world.find(one.ID)?.description !== one) throw new Error(`Law 4: the foreign ${one.ID} was touched`);
  }
};
