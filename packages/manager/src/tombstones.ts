import type { CallContext } from '@infrakit/spi';
import type { ManagerDeps } from './manager-deps.ts';
import type { SpecRecord } from './spec-record.ts';

/** What is left of destroyed groups that somebody still reads. */
export interface Tombstones {
  /**
   * Ends the record of what was destroyed. Of a group that another stored spec names it is kept as `destroyed`, so that the
   * name goes on answering "known, empty" and everything downstream empties (Law 2); anything else is removed.
   */
  readonly bury: (target: string, name: string, ctx: CallContext) => Promise<void>;
  /** Removes those that no stored spec names any more. */
  readonly sweep: (ctx: CallContext) => Promise<void>;
}

const mentions = (value: unknown, names: readonly string[]): boolean => {
  if (typeof value === 'string') return names.includes(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => mentions(part, names));
};

/** The tombstones of a book. */
export const tombstones = ({
  name: stack,
  options,
  book,
  objectsChanged,
}: Pick<ManagerDeps, 'name' | 'options' | 'book' | 'objectsChanged'>): Tombstones => {
  const isNamed = ({ target, name }: SpecRecord): boolean => {
    const names = [`${stack}/${name}`, `${target}/${name}`];
    return (
      target === options.Group &&
      book.all().some(({ target: keeper, phase, spec }) => {
        const isReader = keeper !== target && phase !== 'destroyed';
        return isReader && mentions(spec.properties, names);
      })
    );
  };
  const sweep: Tombstones['sweep'] = async (ctx) => {
    const forgotten = book.all().filter((record) => record.phase === 'destroyed' && !isNamed(record));
    for (const { target, name } of forgotten) await book.remove(target, name, ctx);
    if (forgotten.length > 0) objectsChanged();
  };
  return {
    bury: async (target, name, ctx) => {
      const record = book.find(target, name);
      if (record === undefined) return;
      if (isNamed(record)) await book.put({ ...record, phase: 'destroyed' }, ctx);
      else await book.remove(target, name, ctx);
      objectsChanged();
      await sweep(ctx);
    },
    sweep,
  };
};
