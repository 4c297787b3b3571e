import {
  AppError,
  compareUtf8,
  digest as digestOf,
  type InstanceDescription,
  matchesTags,
  parseDuration,
} from '@infrakit/core';
import { serialByKey } from '@infrakit/runtime';
import { type CallContext, frozenCopy, type Instance } from '@infrakit/spi';
import type Docker from 'dockerode';
import type { ContainerInfo } from 'dockerode';
import { ContainerProperties, parseContainer } from './container-properties.ts';
import { createOptions } from './create-options.ts';
import { bounded } from './engine.ts';
import { gone, healthOf } from './health.ts';
import { ensureImage, type ImageDeps } from './image.ts';
import { labelsOf, nameOf } from './labels.ts';
import { isNameTaken, resolveNameConflict } from './name-conflict.ts';
import { isRunning, listOwn, type Own } from './own-containers.ts';
import { removeContainer, type StopWithin } from './remove-container.ts';

/** What containers are kept with. */
export interface ContainersDeps extends ImageDeps {
  /** The plugin's own name: containers of others are never touched. */
  readonly endpoint: string;
  readonly newId: () => string;
}

/** So often a caller hears that a container is still being stopped. */
const stillMs = 5_000;

/** How long a container may take to stop; labels that were written by hand may say nothing of it. */
const stopWithin = (properties: unknown): StopWithin => {
  const parsed = ContainerProperties.safeParse(properties);
  return parsed.success ? Math.ceil(parseDuration(parsed.data.StopTimeout) / 1_000) : 'its own time';
};

const addressOf = ({ NetworkSettings }: ContainerInfo): string | undefined =>
  Object.values(NetworkSettings?.Networks ?? {}).find(({ IPAddress }) => IPAddress !== '')?.IPAddress;

const stateOf = ({ State }: ContainerInfo, health: string | undefined): string =>
  health === undefined ? State : `${State} (${health})`;

const descriptionOf = (
  { info, marks }: Own,
  health: string | undefined,
  hasProperties: boolean,
): InstanceDescription => {
  const Address = addressOf(info);
  return {
    ID: info.Id,
    LogicalID: marks.logicalId,
    Tags: { ...marks.tags },
    State: stateOf(info, health),
    Created: new Date(info.Created * 1_000).toISOString(),
    ...(Address !== undefined && { Address }),
    ...(hasProperties && { Properties: marks.properties }),
  };
};

/**
 * Containers as instances. What they are for is in their labels, which no engine changes later: `label` is refused, and who
 * asked keeps its own note. The name of a container is derived from its idempotency key, so that the engine itself refuses
 * a second one (Law 7). An engine that is away is an error, never an empty list.
 */
export const containerInstance = (deps: ContainersDeps): Instance => {
  const { engine, endpoint, newId, log } = deps;
  /** Calls with one key wait for each other: the second finds what the first made (Law 7). */
  const inTurn = serialByKey();
  const list = (signal: AbortSignal): Promise<Own[]> => listOwn(engine, endpoint, signal);

  const existing = async (id: string, { signal }: CallContext): Promise<Own> => {
    const own = (await list(signal)).find(({ info }) => info.Id === id);
    if (own === undefined)
      throw new AppError('INSTANCE_NOT_FOUND', `there is no container ${id} of ${endpoint}`, { facts: { id } });
    return own;
  };

  const remove = (id: string, within?: StopWithin): Promise<void> => removeContainer(engine, id, within);

  /** The living container of a key; one that was created and never started, or has ended, makes room. */
  const livingFor = async (key: string, { signal }: CallContext): Promise<string | undefined> => {
    for (const { info } of (await list(signal)).filter(({ marks }) => marks.key === key)) {
      if (isRunning(info)) return info.Id;
      await remove(info.Id);
    }
    return undefined;
  };

  const start = async (
    container: Docker.Container,
    others: readonly string[],
    { signal }: CallContext,
  ): Promise<void> => {
    try {
      for (const network of others) {
        const asked = { Container: container.id, abortSignal: signal };
        await engine.getNetwork(network).connect(asked);
      }
      await container.start({ abortSignal: signal });
    } catch (error) {
      await remove(container.id).catch((failed: unknown) =>
        log.warn({ err: failed }, 'a container that did not start stayed'),
      );
      throw error;
    }
  };

  return {
    validate: async ({ properties }, ctx) => {
      if (ctx.signal.aborted) throw new AppError('RPC_CANCELLED', 'the caller gave up');
      parseContainer(properties);
      return {};
    },
    provision: ({ spec }, ctx) => {
      const properties = parseContainer(spec.Properties);
      const key = ctx.idempotencyKey;
      const make = async (): Promise<{ readonly id: string }> => {
        const living = key === undefined ? undefined : await livingFor(key, ctx);
        if (living !== undefined) return { id: living };
        await ensureImage(properties, deps, ctx);
        const { Tags: tags, LogicalID: logicalId, Init: init } = spec;
        const labels = labelsOf({ endpoint, tags, logicalId, key, properties: spec.Properties });
        const name = key === undefined ? `infrakit-${newId()}` : nameOf(endpoint, key);
        // A call that is given up ends here, lest an engine that never answers holds the turn of the key: what it makes all the same
        // is found by the key, or cleaned up.
        const asked = { ...createOptions(properties, { name, labels, init }), abortSignal: ctx.signal };
        const create = () => engine.createContainer(asked);
        let container: Docker.Container;
        try {
          container = await create();
        } catch (error) {
          if (key === undefined || !isNameTaken(error)) throw error;
          const other = await resolveNameConflict({ engine, endpoint, key, signal: ctx.signal });
          if (other !== undefined) return { id: other };
          container = await create();
        }
        if (ctx.signal.aborted) {
          await remove(container.id);
          throw new AppError('RPC_CANCELLED', 'the caller gave up');
        }
        await start(container, properties.Networks.slice(1), ctx);
        return { id: container.id };
      };
      return bounded(ctx, `a container of ${properties.Image} was not made`, () =>
        key === undefined ? make() : inTurn(key, make),
      );
    },
    label: ({ id }, ctx) =>
      bounded(ctx, `container ${id} was not labelled`, async () => {
        await existing(id, ctx);
        throw new AppError('LABEL_REFUSED', 'the labels of a container cannot be changed once it is made', {
          facts: { id },
        });
      }),
    destroy: ({ id }, ctx) =>
      bounded(ctx, `container ${id} was not removed`, async () => {
        const { marks } = await existing(id, ctx);
        const still = setInterval(() => ctx.progress?.({ message: `container ${id} is being stopped` }), stillMs);
        try {
          await remove(id, stopWithin(marks.properties));
        } finally {
          clearInterval(still);
        }
        return {};
      }),
    describe: ({ tags, properties, digest }, ctx) =>
      bounded(ctx, 'containers were not listed', async () => {
        const running = (await list(ctx.signal)).filter(
          ({ info, marks }) => isRunning(info) && matchesTags(marks.tags, tags),
        );
        const health = await healthOf(engine, running, ctx.signal);
        const instances = running
          .filter(({ info }) => health.get(info.Id) !== gone)
          .map((own) => descriptionOf(own, health.get(own.info.Id), properties))
          .sort((left, right) => compareUtf8(left.ID, right.ID));
        const own = digestOf([tags, properties, instances]);
        return own === digest
          ? { kind: 'unchanged' as const, digest: own }
          : frozenCopy({ kind: 'instances' as const, digest: own, instances });
      }),
  };
};
