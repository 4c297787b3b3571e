import { AppError, errorTable, objectName, type Spec, type SpecObject, toAppError } from '@infrakit/core';
import { type Serial, serial } from '@infrakit/runtime';
import {
  type CallContext,
  type Controller,
  controllerInterface,
  type Group,
  groupInterface,
  type PlanText,
} from '@infrakit/spi';
import { sizeOf, withSize } from './group-size.ts';
import type { ManagerDeps } from './manager-deps.ts';
import { replayer } from './replay.ts';
import type { SpecRecord } from './spec-record.ts';
import { tombstones } from './tombstones.ts';

/** What a manager does for one of its targets: validates, stores, then acts (GP §4.7, DESIGN §5). */
export interface Manager {
  readonly plan: (target: string, spec: Spec, ctx: CallContext) => Promise<{ object: SpecObject; plan: PlanText }>;
  /** Durable when it answers. `COMMIT_PENDING` when the controller could not be reached; it is then told later. */
  readonly commit: (target: string, spec: Spec, ctx: CallContext) => Promise<SpecObject>;
  readonly free: (target: string, name: string, ctx: CallContext) => Promise<SpecObject[]>;
  readonly destroy: (target: string, name: string, ctx: CallContext) => ReturnType<Controller['destroy']>;
  readonly setSize: (name: string, size: number, ctx: CallContext) => Promise<{ before: number; after: number }>;
  readonly destroyInstances: (name: string, ids: readonly string[], ctx: CallContext) => Promise<number>;
  readonly controllerOf: (target: string) => Controller;
  readonly group: Group;
  /** The name under which a target keeps `name`, which may come with this stack's or the target's lookup. */
  readonly nameAt: (target: string, name: string) => string;
  readonly records: () => readonly SpecRecord[];
  readonly stop: () => Promise<void>;
}

/** Whether a failed call may have been done, or may be done later; else the target refused for good. */
const isOpen = (error: AppError): boolean => errorTable[error.code].retry !== 'never';

/** Whether a target does not know what is stored: it was started anew, and is given its specs again. */
const isForgotten = ({ code }: AppError): boolean => code === 'RULE_NOT_FOUND' || code === 'GROUP_NOT_FOUND';

/** Starts giving stored specs back, and serves. */
export const startManager = (deps: ManagerDeps): Manager => {
  const { book, plugins, options } = deps;
  const turns = new Map<string, Serial>();
  const group = plugins.resolve(groupInterface, options.Group);
  const controllerOf = (target: string): Controller =>
    target === options.Group ? group : plugins.resolve(controllerInterface, target);
  const graves = tombstones(deps);
  const replay = replayer({ ...deps, controllerOf, graves, targets: [options.Group, ...options.Controllers] });

  /** Changes of one spec are made one after the other, those of different specs at once (GP-M12, GP-M21). */
  const inTurn = <T>(target: string, name: string, work: () => Promise<T>): Promise<T> => {
    const key = `${target}/${name}`;
    const turn = turns.get(key) ?? serial();
    turns.set(key, turn);
    return turn(work);
  };

  const nameAt = (target: string, name: string): string => {
    const own = name.startsWith(`${deps.name}/`) ? name.slice(deps.name.length + 1) : name;
    const bare = own.startsWith(`${target}/`) ? own : objectName(target, own);
    return objectName(target, bare);
  };

  const recordOf = (target: string, name: string): SpecRecord => {
    const record = book.find(target, name);
    if (record === undefined || record.phase === 'destroyed') {
      const code = target === options.Group ? 'GROUP_NOT_FOUND' : 'RULE_NOT_FOUND';
      throw new AppError(code, `nothing named ${name} is committed to ${deps.name}/${target}`);
    }
    return record;
  };

  /** A group may not take the place of another object of the stack (GP §4.6). */
  const checkName = (target: string, name: string): void => {
    if (target !== options.Group || !['groups', ...options.Controllers].includes(name)) return;
    throw new AppError('NAME_INVALID', `a group cannot be called ${name}: ${deps.name}/${name} is something else`);
  };

  const atTarget = (target: string, spec: Spec): { readonly name: string; readonly spec: Spec } => {
    const name = nameAt(target, spec.metadata.name);
    checkName(target, name);
    return { name, spec: { ...spec, metadata: { ...spec.metadata, name } } };
  };

  /** Tells the target; on a definite refusal puts back what was stored before (GP-M7). */
  const tell = async (record: SpecRecord, before: SpecRecord | undefined, ctx: CallContext): Promise<SpecObject> => {
    try {
      const { spec, revision, target } = record;
      const { object } = await controllerOf(target).commit({ spec, revision }, ctx);
      await book.put({ ...record, phase: 'committed' }, ctx);
      await graves.sweep(ctx);
      return object;
    } catch (thrown) {
      const error = toAppError(thrown);
      if (isOpen(error)) {
        replay.wake(record.target);
        throw new AppError(
          'COMMIT_PENDING',
          `${record.name} is stored; ${record.target} did not take it yet: ${error.message}`,
          {
            cause: error,
          },
        );
      }
      if (before === undefined) await book.remove(record.target, record.name, ctx);
      else await book.put(before, ctx);
      throw error;
    }
  };

  const store = async (target: string, name: string, spec: Spec, ctx: CallContext): Promise<SpecObject> => {
    const before = book.find(target, name);
    await controllerOf(target).plan({ operation: 'commit', spec }, ctx);
    const record: SpecRecord = { target, name, spec, revision: book.nextRevision(), phase: 'pending' };
    await book.put(record, ctx);
    if (before === undefined) deps.objectsChanged();
    try {
      return await tell(record, before, ctx);
    } finally {
      deps.objectsChanged();
    }
  };

  /** What is stored and its target could not be told is told later, which the caller hears: it is not done. */
  const told = async <T>(what: string, target: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'RPC_TIMEOUT' || !(isOpen(error) || isForgotten(error))) throw error;
      const message = `the ${what} is stored; ${target} has not done it yet: ${error.message}`;
      throw new AppError('COMMIT_PENDING', message, { cause: error });
    }
  };

  /** What a group changed of its spec by itself, such as its size after members were destroyed by name (GP-M8). */
  const adoptSize = async (name: string, ctx: CallContext): Promise<number> => {
    const record = recordOf(options.Group, name);
    const { spec } = await group.spec({ name }, ctx);
    const size = sizeOf(spec);
    if (size !== sizeOf(record.spec)) await book.put({ ...record, spec: withSize(record.spec, size) }, ctx);
    return size;
  };

  return {
    nameAt,
    group,
    controllerOf,
    records: book.all,
    plan: async (target, spec, ctx) => {
      const { spec: own } = atTarget(target, spec);
      return controllerOf(target).plan({ operation: 'commit', spec: own }, ctx);
    },
    commit: async (target, spec, ctx) => {
      const { name, spec: own } = atTarget(target, spec);
      return inTurn(target, name, () => store(target, name, own, ctx));
    },
    free: (target, named, ctx) => {
      const name = nameAt(target, named);
      return inTurn(target, name, async () => {
        const before = recordOf(target, name);
        await book.put({ ...before, phase: 'freed' }, ctx);
        try {
          return (await told(`free of ${name}`, target, () => controllerOf(target).free({ name }, ctx))).objects;
        } catch (thrown) {
          if (isOpen(toAppError(thrown))) replay.wake(target);
          else await book.put(before, ctx);
          throw thrown;
        }
      });
    },
    destroy: (target, named, ctx) => {
      const name = nameAt(target, named);
      return inTurn(target, name, async () => {
        if (book.find(target, name)?.phase === 'destroyed') return { objects: [] };
        const record = recordOf(target, name);
        // Asked again, it is stored already, and the replay has its own pace (EI-M-4).
        const isAsked = record.phase === 'destroying';
        if (!isAsked) await book.put({ ...record, phase: 'destroying' }, ctx);
        try {
          const call = () => controllerOf(target).destroy({ name }, ctx);
          const destroyed = await told(`destroy of ${name}`, target, call);
          await graves.bury(target, name, ctx);
          return destroyed;
        } catch (thrown) {
          if (!isAsked) replay.wake(target);
          throw thrown;
        }
      });
    },
    setSize: (named, size, ctx) => {
      const name = nameAt(options.Group, named);
      return inTurn(options.Group, name, async () => {
        const { spec, phase } = recordOf(options.Group, name);
        if (phase === 'destroying') {
          throw new AppError('GROUP_INVALID', `${name} is being destroyed: commit it again to keep it`);
        }
        await store(options.Group, name, withSize(spec, size), ctx);
        return { before: sizeOf(spec), after: size };
      });
    },
    destroyInstances: (named, ids, ctx) => {
      const name = nameAt(options.Group, named);
      return inTurn(options.Group, name, async () => {
        recordOf(options.Group, name);
        await group.destroyInstances({ name, instances: [...ids] }, ctx);
        return adoptSize(name, ctx);
      });
    },
    stop: replay.stop,
  };
};
