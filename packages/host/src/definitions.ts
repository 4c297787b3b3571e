import { AppError, suggest } from '@infrakit/core';
import type { PluginDefinition } from '@infrakit/spi';
import type { z } from 'zod';

/** A kind of plugin that comes with the product; its package is loaded when it is asked for. */
export interface BuiltInKind {
  readonly kind: string;
  readonly aliases: readonly string[];
  /** 0 for kinds whose events are timers (DESIGN §3). */
  readonly eventQos: 0 | 1;
  readonly load: () => Promise<PluginDefinition>;
}

/** A definition whose options are from now on known to itself alone. */
export const anyDefinition = <O extends z.ZodType>(definition: PluginDefinition<O>): PluginDefinition =>
  definition as unknown as PluginDefinition;

const builtIn = (
  kind: string,
  load: () => Promise<PluginDefinition>,
  more: { readonly aliases?: readonly string[]; readonly eventQos?: 0 | 1 } = {},
): BuiltInKind => ({ kind, load, aliases: more.aliases ?? [], eventQos: more.eventQos ?? 1 });

/** Every built-in kind, sorted. */
export const builtInKinds: readonly BuiltInKind[] = [
  builtIn('combo', async () => anyDefinition((await import('@infrakit/plugin-flavors')).comboDefinition)),
  builtIn('docker', async () => anyDefinition((await import('@infrakit/plugin-docker')).dockerDefinition)),
  builtIn('enrollment', async () => anyDefinition((await import('@infrakit/enrollment')).enrollmentDefinition)),
  builtIn('exec', async () => anyDefinition((await import('@infrakit/plugin-exec')).execDefinition)),
  builtIn('group', async () => anyDefinition((await import('@infrakit/group')).groupDefinition), {
    aliases: ['group-stateless'],
  }),
  builtIn('manager', async () => anyDefinition((await import('@infrakit/manager')).managerDefinition)),
  builtIn('nfs-exports', async () =>
    anyDefinition((await import('@infrakit/plugin-nfs-exports')).nfsExportsDefinition),
  ),
  builtIn('repeater', async () => anyDefinition((await import('@infrakit/repeater')).repeaterDefinition), {
    aliases: ['event-repeater'],
  }),
  builtIn('simulator', async () => anyDefinition((await import('@infrakit/plugin-simulator')).simulatorDefinition)),
  builtIn('tailer', async () => anyDefinition((await import('@infrakit/plugin-tailer')).tailerDefinition)),
  builtIn('time', async () => anyDefinition((await import('@infrakit/plugin-time')).timeDefinition), {
    aliases: ['event-time'],
    eventQos: 0,
  }),
  builtIn('tracker', async () => anyDefinition((await import('@infrakit/plugin-tracker')).trackerDefinition)),
  builtIn('vanilla', async () => anyDefinition((await import('@infrakit/plugin-flavors')).vanillaDefinition)),
];

/** The kind that goes by a name or alias. Errors: `PLUGIN_KIND_UNKNOWN` with the nearest known one (GP-L1). */
export const findKind = (name: string, kinds: readonly BuiltInKind[] = builtInKinds): BuiltInKind => {
  const found = kinds.find(({ kind, aliases }) => kind === name || aliases.includes(name));
  if (found !== undefined) return found;
  const names = kinds.map(({ kind }) => kind);
  const near = suggest(name, names);
  const hint = near === undefined ? `known are ${names.join(', ')}` : `did you mean ${near}?`;
  throw new AppError('PLUGIN_KIND_UNKNOWN', `there is no kind of plugin named ${JSON.stringify(name)}; ${hint}`, {
    facts: { kind: name },
  });
};
