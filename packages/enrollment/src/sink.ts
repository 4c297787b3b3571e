import {
  AppError,
  canonicalJson,
  type ErrorCode,
  type InstanceDescription,
  type InstanceSpec,
  type Tags,
  toAppError,
} from '@infrakit/core';
import type { SharedDescribes } from '@infrakit/runtime';
import { type CallContext, type InstanceListing, instanceInterface, type Plugins } from '@infrakit/spi';

/** Describes that the rules of a controller share. */
export type Describes = SharedDescribes<Extract<InstanceListing, { kind: 'instances' }>>;

/** The downstream side of a rule: an instance plugin, seen through exactly the user's labels (EI-E2). */
export interface EnrollmentSink {
  /** Complete, or an error; the very same list as long as nothing changed. */
  readonly read: (ctx: CallContext) => Promise<readonly InstanceDescription[]>;
  readonly provision: (spec: InstanceSpec, ctx: CallContext) => Promise<string>;
  readonly label: (id: string, labels: Tags, ctx: CallContext) => Promise<void>;
  readonly destroy: (id: string, reason: string, ctx: CallContext) => Promise<void>;
}

const isMissing: ReadonlySet<ErrorCode> = new Set([
  'PLUGIN_UNKNOWN',
  'OBJECT_UNKNOWN',
  'METHOD_UNKNOWN',
  'INTERFACE_VERSION',
]);

/**
 * The sink `plugin`. Properties are asked for only where a selector reads them, and nothing is sent while the digest of the
 * last listing holds; a write drops it. A plugin that nothing answers to is a fault of the spec when a plan is asked for, and
 * a reason to wait when the rule runs.
 */
export const enrollmentSink = (
  plugin: string,
  { labels, hasProperties }: { readonly labels: Tags; readonly hasProperties: boolean },
  deps: { readonly plugins: Plugins; readonly describes: Describes },
): EnrollmentSink => {
  const instance = deps.plugins.resolve(instanceInterface, plugin);
  const filter = canonicalJson([labels, hasProperties]);

  const describe = (digest: string | undefined, ctx: CallContext): Promise<InstanceListing> =>
    instance.describe(
      { tags: { ...labels }, properties: hasProperties, ...(digest === undefined ? {} : { digest }) },
      ctx,
    );

  return {
    read: async (ctx) => {
      try {
        const listing = await deps.describes.describe(plugin, filter, (digest) => describe(digest, ctx));
        if (listing.kind === 'instances') return listing.instances;
        throw new AppError('INTERNAL', `the describe of ${plugin} gave no list`);
      } catch (thrown) {
        const error = toAppError(thrown);
        if (!isMissing.has(error.code)) throw error;
        throw new AppError('SPEC_INVALID', `Instance.Plugin ${plugin}: ${error.message}`, { cause: error });
      }
    },
    provision: (spec, ctx) => deps.describes.write(plugin, async () => (await instance.provision({ spec }, ctx)).id),
    label: (id, labelled, ctx) =>
      deps.describes.write(plugin, async () => {
        await instance.label({ id, labels: { ...labelled } }, ctx);
      }),
    destroy: (id, reason, ctx) =>
      deps.describes.write(plugin, async () => {
        await instance.destroy({ id, context: { Reason: reason } }, ctx);
      }),
  };
};
