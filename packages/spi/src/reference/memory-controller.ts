import { AppError, compareUtf8, digest, type Spec } from '@infrakit/core';
import { z } from 'zod';
import type { Controller, PlanText } from '../controller.ts';
import { ruleBook } from './rule-book.ts';

/** What a rule wants downstream: the keys of a list of its own, or those of a source that changes by itself. */
const Properties = z.union([
  z.strictObject({ List: z.array(z.string().min(1)) }),
  z.strictObject({ Source: z.string().min(1) }),
]);

/** One thing downstream; `owner` is the rule that made it, null where nothing says so. */
export interface MemoryEntry {
  readonly id: string;
  readonly key: string;
  readonly owner: string | null;
}

/** What lies around the controller; it acts at once on every change. */
export interface MemorySurroundings {
  /** All entries, sorted by id. */
  readonly entries: () => MemoryEntry[];
  readonly add: (key: string, owner: string | null) => string;
  readonly remove: (id: string) => void;
  readonly setSource: (source: string, keys: readonly string[]) => void;
}

interface Difference {
  readonly create: readonly string[];
  readonly destroy: readonly MemoryEntry[];
}

const nothing: Difference = { create: [], destroy: [] };

const textOf = ({ create, destroy }: Difference): PlanText => ({
  id: digest([create, destroy.map(({ id }) => id)]),
  messages: [...create.map((key) => `create ${key}`), ...destroy.map(({ id, key }) => `destroy ${id} (key ${key})`)],
  warnings: [],
});

/**
 * A {@link Controller} in memory, as small as its interface allows. It never destroys what no commit explains before
 * `approve`: that is its whole budget.
 */
export const memoryController = (): { controller: Controller; surroundings: MemorySurroundings } => {
  const entries = new Map<string, MemoryEntry>();
  const sources = new Map<string, readonly string[]>();
  let made = 0;

  const sorted = (): MemoryEntry[] => [...entries.values()].sort((left, right) => compareUtf8(left.id, right.id));
  const insert = (key: string, owner: string | null): string => {
    made += 1;
    const id = `entry-${String(made).padStart(6, '0')}`;
    entries.set(id, { id, key, owner });
    return id;
  };
  const wantedBy = (spec: Spec): readonly string[] | undefined => {
    const properties = Properties.parse(spec.properties);
    return 'List' in properties ? properties.List : sources.get(properties.Source);
  };
  const difference = (spec: Spec): Difference => {
    const wanted = wantedBy(spec);
    if (wanted === undefined) return nothing;
    const { name } = spec.metadata;
    const present = sorted().filter(({ key, owner }) => owner === name || (owner === null && wanted.includes(key)));
    return {
      create: [...new Set(wanted)].filter((key) => !present.some((entry) => entry.key === key)).sort(compareUtf8),
      destroy: present.filter(({ key }) => !wanted.includes(key)),
    };
  };
  const apply = (name: string, { create, destroy }: Difference): void => {
    for (const key of create) insert(key, name);
    for (const { id } of destroy) entries.delete(id);
  };
  const waiting = (name: string): Difference => difference(book.rule(name).spec);
  const cycle = (name: string): void => {
    if (book.isActive(name)) apply(name, { ...waiting(name), destroy: [] });
  };
  const cycleAll = (): void => {
    for (const name of book.names()) cycle(name);
  };
  const owned = (name: string): MemoryEntry[] => sorted().filter(({ owner }) => owner === name);

  const book = ruleBook({
    unknownName: 'RULE_NOT_FOUND',
    check: ({ properties, metadata }) => {
      const parsed = Properties.safeParse(properties);
      if (!parsed.success) throw new AppError('SPEC_INVALID', `${metadata.name} has neither a List nor a Source`);
    },
    plan: (operation, spec) =>
      textOf(operation === 'commit' ? difference(spec) : { create: [], destroy: owned(spec.metadata.name) }),
    enforce: (name) => apply(name, waiting(name)),
    resume: cycle,
    release: (name) => apply(name, { create: [], destroy: owned(name) }),
    progress: (name) => {
      const { destroy } = waiting(name);
      if (destroy.length === 0) return { kind: 'converged' };
      const plan = textOf({ create: [], destroy }).id;
      return { kind: 'held', reason: `${destroy.length} destroys wait to be approved`, plan };
    },
    state: (name) => owned(name).map(({ id, key }) => ({ Key: key, State: 'enrolled', Data: { enrollmentID: id } })),
  });

  const controller: Controller = {
    ...book.methods,
    approve: async ({ name, plan }) => {
      const held = { create: [], destroy: waiting(name).destroy };
      const text = textOf(held);
      if (held.destroy.length === 0 || (plan !== undefined && plan !== text.id)) {
        throw new AppError('PLAN_STALE', `the plan of ${name} is another one now`, { facts: { plan: text.id } });
      }
      apply(name, held);
      return { plan: text };
    },
    explain: async ({ name, entry }) => {
      const { spec } = book.rule(name);
      const isWanted = wantedBy(spec)?.includes(entry) === true;
      const found = sorted().filter(({ id, key }) => id === entry || key === entry);
      return {
        lines: [
          ...(isWanted ? [`${name} wants ${entry}`] : []),
          ...found.map(({ id, key, owner }) => `${id} has the key ${key} and belongs to ${owner ?? 'nobody'}`),
          ...(isWanted || found.length > 0 ? [] : [`${entry} is neither wanted nor there`]),
        ],
      };
    },
    adopt: async ({ name, ids }) => {
      const wanted = wantedBy(book.rule(name).spec) ?? [];
      const free = sorted().filter(({ key, owner }) => owner === null && wanted.includes(key));
      const candidates = [...free, ...owned(name)];
      const missing = ids?.find((id) => !candidates.some((entry) => entry.id === id));
      if (missing !== undefined) throw new AppError('INSTANCE_NOT_FOUND', `${name} cannot take over ${missing}`);
      const adopted = ids === undefined ? free : candidates.filter(({ id }) => ids.includes(id));
      for (const entry of adopted) entries.set(entry.id, { ...entry, owner: name });
      return { adopted: adopted.map(({ id }) => id).sort(compareUtf8) };
    },
  };

  return {
    controller,
    surroundings: {
      entries: sorted,
      add: (key, owner) => {
        const id = insert(key, owner);
        cycleAll();
        return id;
      },
      remove: (id) => {
        entries.delete(id);
        cycleAll();
      },
      setSource: (source, keys) => {
        sources.set(source, keys);
        cycleAll();
      },
    },
  };
};
