import {
  AppError,
  type Attachment,
  type Health,
  type InstanceSpec,
  PluginProperties,
  toAppError,
} from '@infrakit/core';
import { parseProperties } from '@infrakit/document';
import { type CallContext, type Flavor, flavorInterface, type Plugins } from '@infrakit/spi';
import { z } from 'zod';

const Members = z.array(PluginProperties);

interface Member {
  readonly name: string;
  readonly properties: unknown;
  readonly flavor: Flavor;
}

/** What a member added to the lines it was given: what it repeats of them is not its own (GP-F2). */
const addedInit = (given: string, result: string): string => {
  if (result === given) return '';
  return given !== '' && result.startsWith(`${given}\n`) ? result.slice(given.length + 1) : result;
};

const isSame = (left: Attachment, right: Attachment): boolean => left.ID === right.ID && left.Type === right.Type;

const addedAttachments = (given: readonly Attachment[], result: readonly Attachment[]): readonly Attachment[] =>
  result.filter((attachment) => !given.some((known) => isSame(known, attachment)));

/** Lays what a member added over what there is so far; Properties and LogicalID always stay the original's (GP §2.9). */
const merge = (original: InstanceSpec, so: InstanceSpec, result: InstanceSpec): InstanceSpec => {
  const changed = Object.entries(result.Tags).filter(([key, value]) => original.Tags[key] !== value);
  const init = addedInit(original.Init, result.Init);
  const attachments = addedAttachments(original.Attachments ?? [], result.Attachments ?? []);
  return {
    ...so,
    Tags: { ...so.Tags, ...Object.fromEntries(changed) },
    Init: init === '' ? so.Init : so.Init === '' ? init : `${so.Init}\n${init}`,
    Attachments: attachments.length === 0 ? so.Attachments : [...(so.Attachments ?? []), ...attachments],
  };
};

/**
 * Several flavors in order, each preparing the original spec, their additions laid one over the other (GP §2.9). All
 * members are validated, each fault with the member's name (GP-F1); a member whose plugin is away is an error, not a
 * crash (GP-F3).
 */
export const comboFlavor = (plugins: Plugins): Flavor => {
  const membersOf = (properties: unknown): Member[] =>
    parseProperties('FLAVOR_INVALID', Members, properties ?? []).map(({ Plugin: name, Properties }) => ({
      name,
      properties: Properties ?? null,
      flavor: plugins.resolve(flavorInterface, name),
    }));

  const prefixed = async <T>(name: string, call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (thrown) {
      const error = toAppError(thrown);
      throw new AppError(error.code, `${name}: ${error.message}`, { facts: error.facts, cause: error });
    }
  };

  const each = async (members: readonly Member[], call: (member: Member) => Promise<unknown>): Promise<AppError[]> => {
    const results = await Promise.allSettled(members.map((member) => prefixed(member.name, call(member))));
    return results.flatMap((result) => (result.status === 'rejected' ? [toAppError(result.reason)] : []));
  };

  const failTogether = (errors: readonly AppError[]): void => {
    const [first] = errors;
    if (first === undefined) return;
    throw new AppError(first.code, errors.map(({ message }) => message).join(', '), { cause: first });
  };

  /** The first member that does not call an instance healthy decides. Each is asked once, about all that are left. */
  const healthOf = async (
    members: readonly Member[],
    instances: Parameters<Flavor['healthy']>[0]['instances'],
    ctx: CallContext,
  ): Promise<ReadonlyMap<string, Health>> => {
    const decided = new Map<string, Health>();
    let left = instances;
    for (const { name, flavor, properties } of members) {
      if (left.length === 0) break;
      const { health } = await prefixed(name, flavor.healthy({ properties, instances: left }, ctx));
      const told = new Map(health.map(({ id, health: own }) => [id, own]));
      for (const { ID } of left) {
        const own = told.get(ID) ?? 'unknown';
        if (own !== 'healthy') decided.set(ID, own);
      }
      left = left.filter(({ ID }) => !decided.has(ID));
    }
    return decided;
  };

  return {
    validate: async ({ properties, allocation }, ctx) => {
      failTogether(
        await each(membersOf(properties), (member) =>
          member.flavor.validate({ properties: member.properties, allocation }, ctx),
        ),
      );
      return {};
    },
    prepare: async ({ properties, spec: original, allocation, index }, ctx) => {
      let spec = original;
      for (const { name, flavor, properties: own } of membersOf(properties)) {
        const call = flavor.prepare({ properties: own, spec: original, allocation, index }, ctx);
        spec = merge(original, spec, (await prefixed(name, call)).spec);
      }
      return { spec };
    },
    healthy: async ({ properties, instances }, ctx) => {
      const decided = await healthOf(membersOf(properties), instances, ctx);
      return { health: instances.map(({ ID }) => ({ id: ID, health: decided.get(ID) ?? 'healthy' })) };
    },
    drain: async ({ properties, instance }, ctx) => {
      failTogether(
        await each(membersOf(properties), (member) =>
          member.flavor.drain({ properties: member.properties, instance }, ctx),
        ),
      );
      return {};
    },
  };
};
