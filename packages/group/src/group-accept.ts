import { AppError, type ErrorCode, toAppError } from '@infrakit/core';
import { faultUnder } from '@infrakit/document';
import { type CallContext, flavorInterface, instanceInterface, type Plugins } from '@infrakit/spi';
import { allocationOf, type GroupConfig, groupConfig } from './group-config.ts';
import type { GroupRecord } from './group-record.ts';

const notThere: readonly ErrorCode[] = [
  'PLUGIN_UNKNOWN',
  'OBJECT_UNKNOWN',
  'METHOD_UNKNOWN',
  'INTERFACE_VERSION',
  'NAME_INVALID',
];

/** The faults of properties with their paths in the spec, each on a line of its own. */
const toldFromRoot = (what: 'Flavor' | 'Instance', error: AppError): AppError => {
  const told = error.facts.faults;
  if (!Array.isArray(told)) return error;
  const faults = told.map((fault) => faultUnder(`${what}.Properties`, String(fault)));
  return new AppError(error.code, faults.join('\n'), { facts: { ...error.facts, faults }, cause: error });
};

/** One plugin's own verdict; that there is no such plugin is told in the words of GP §1.4. */
const ask = async (what: 'Flavor' | 'Instance', name: string, call: () => Promise<unknown>): Promise<void> => {
  try {
    await call();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (!notThere.includes(error.code)) throw toldFromRoot(what, error);
    throw new AppError('GROUP_INVALID', `Failed to find ${what} plugin '${name}':${error.message}`, {
      facts: { plugin: name },
      cause: error,
    });
  }
};

/** Asks the flavor, then the instance plugin, whether the spec is good (GP §1.4, 6 and 7). */
export const askPlugins = async (
  { flavor, instance, wanted }: GroupConfig,
  plugins: Plugins,
  ctx: CallContext,
): Promise<void> => {
  await ask('Flavor', flavor.Plugin, () =>
    plugins
      .resolve(flavorInterface, flavor.Plugin)
      .validate({ properties: flavor.Properties ?? null, allocation: allocationOf(wanted) }, ctx),
  );
  await ask('Instance', instance.Plugin, () =>
    plugins.resolve(instanceInterface, instance.Plugin).validate({ properties: instance.Properties ?? null }, ctx),
  );
};

const ways = { size: 'Size', logicalIds: 'LogicalIDs' } as const;

/** Refuses what a living group cannot become: another way of allocation (GP-G5), or members in another plugin. */
export const checkChange = (name: string, config: GroupConfig, record: GroupRecord | null): void => {
  if (record?.phase !== 'live') return;
  const before = groupConfig(name, record.spec.properties);
  if (before.wanted.kind !== config.wanted.kind) {
    throw new AppError(
      'GROUP_INVALID',
      `the Allocation of ${name} cannot change from ${ways[before.wanted.kind]} to ${ways[config.wanted.kind]} while the group lives: destroy it first`,
    );
  }
  if (before.instance.Plugin !== config.instance.Plugin) {
    throw new AppError(
      'GROUP_INVALID',
      `the members of ${name} are kept by ${before.instance.Plugin} and cannot move to ${config.instance.Plugin}: destroy the group first`,
    );
  }
};
