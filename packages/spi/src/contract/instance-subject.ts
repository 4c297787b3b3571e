import { randomUUID } from 'node:crypto';
import type { InstanceDescription, Tags } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';
import type { Instance } from '../instance.ts';
import { type ContractContext, ContractFailure, demand, eventually } from './contract-case.ts';
import type { StallingWorld } from './deadline-cases.ts';

/** What the suite can do to the world that an instance plugin works on, without the plugin. */
export interface InstanceSubjectWorld extends StallingWorld {
  /** Adds a thing with these tags; gives its id. */
  readonly addForeign?: (tags: Tags) => Promise<string>;
  /** Changes something about a thing that a describe without properties shows. */
  readonly changeBehind?: (id: string) => Promise<void>;
  readonly removeBehind?: (id: string) => Promise<void>;
  /** Part of the things cannot be read, until the result is called. */
  readonly tear?: () => Promise<() => Promise<void>>;
}

/**
 * An instance plugin, and what the suite needs to know of it. Nobody else makes things in its world while a case runs;
 * things that are there already do no harm.
 */
export interface InstanceSubject {
  readonly instance: Instance;
  /** Valid properties, other ones for each number. */
  readonly properties: (n: number) => unknown;
  /** What describe shows of `properties(n)`, if that is known. */
  readonly describedProperties?: (n: number) => unknown;
  /** Properties with at least one fault; left out where everything is valid. */
  readonly invalidProperties?: unknown;
  readonly keepsLogicalId: boolean;
  readonly isRelabelRefused: boolean;
  readonly hasIdempotencyKeys: boolean;
  /** Whether it refuses an older term (Law 12). */
  readonly takesTerms: boolean;
  /** Whether describe may show a write only after a while. */
  readonly isEventuallyConsistent: boolean;
  /** How many things the case about long lists makes. */
  readonly longList: number;
  readonly world?: InstanceSubjectWorld;
  /** Ends the plugin without a word and starts it anew; `instance` is then a handle on the new one. */
  readonly restart?: () => Promise<void>;
}

/** What a provision may ask for beside the tag of the case. */
export interface ProvisionWish {
  readonly n?: number;
  readonly tags?: Tags;
  readonly key?: string;
  readonly logicalId?: string;
  readonly ctx?: Partial<CallContext>;
}

/** A case's own corner of the world: everything made there carries one tag of its own. */
export interface InstanceScene {
  readonly tag: Tags;
  /** A key that nobody else uses. */
  readonly newKey: () => string;
  readonly provision: (wish?: ProvisionWish) => Promise<string>;
  /** All that match the tag of the case and `tags`, sorted by id. */
  readonly list: (tags?: Tags, hasProperties?: boolean) => Promise<InstanceDescription[]>;
  readonly ids: (tags?: Tags) => Promise<string[]>;
  /** Checks what can be observed, at once or in a while. */
  readonly settle: (check: () => Promise<void>) => Promise<void>;
}

const byId = (left: { readonly ID: string }, right: { readonly ID: string }): number =>
  left.ID < right.ID ? -1 : left.ID > right.ID ? 1 : 0;

/** The entries of a full listing, sorted by id; fails the case on `unchanged`, which only a given digest may get. */
export const describeAll = async (
  instance: Instance,
  ctx: CallContext,
  tags: Tags,
  hasProperties = false,
): Promise<InstanceDescription[]> => {
  const listing = await instance.describe({ tags: { ...tags }, properties: hasProperties }, ctx);
  if (listing.kind === 'unchanged') {
    throw new ContractFailure('describe must answer the whole list to a caller that sends no digest');
  }
  return [...listing.instances].sort(byId);
};

/** Runs `act` in a scene of its own and destroys what it has made, also after a failure. */
export const withScene = async (
  subject: InstanceSubject,
  ctx: ContractContext,
  act: (scene: InstanceScene) => Promise<void>,
): Promise<void> => {
  const tag = { 'infrakit.contract': randomUUID() };
  const list: InstanceScene['list'] = (tags = {}, hasProperties = false) =>
    describeAll(subject.instance, ctx, { ...tag, ...tags }, hasProperties);
  const scene: InstanceScene = {
    tag,
    newKey: randomUUID,
    provision: async ({ n = 1, tags = {}, key, logicalId = null, ctx: special = {} } = {}) => {
      const spec = {
        Properties: subject.properties(n),
        Tags: { ...tag, ...tags },
        Init: '',
        LogicalID: logicalId,
        Attachments: null,
      };
      const keyed = key === undefined ? {} : { idempotencyKey: key };
      const { id } = await subject.instance.provision({ spec }, { ...ctx, ...keyed, ...special });
      demand(typeof id === 'string' && id !== '', 'provision must answer a non-empty id');
      return id;
    },
    list,
    ids: async (tags) => (await list(tags)).map(({ ID }) => ID),
    settle: (check) => eventually(ctx, subject.isEventuallyConsistent, check),
  };
  try {
    await act(scene);
  } finally {
    const left = await list().catch(() => []);
    for (const { ID } of left) {
      await subject.instance.destroy({ id: ID, context: { Reason: 'terminate' } }, ctx).catch(() => undefined);
    }
  }
};
