import { anyDefinition, type BuiltInKind } from '@infrakit/host';
import { vanillaDefinition } from '@infrakit/plugin-flavors';
import { memoryMetadata, memoryMetadataWorld, metadataInterface, type PluginDeps, pluginObject } from '@infrakit/spi';

/** The options of a plugin that has none. */
const Options = vanillaDefinition.options;

/** What toy plugins do. */
export interface ToyWorld {
  readonly kinds: readonly BuiltInKind[];
  /** `start a`, `stop a`, … in order. */
  readonly calls: readonly string[];
  /** What each was last given, by name. */
  readonly given: ReadonlyMap<string, PluginDeps<unknown>>;
  /** Changes the objects of a plugin. */
  readonly setObjects: (name: string, objects: readonly string[]) => void;
}

/** Kinds of plugins for tests: `toy`, `leader` (has leaders), `failing` (does not start), `hanging` (does not stop). */
export const toyWorld = (): ToyWorld => {
  const calls: string[] = [];
  const given = new Map<string, PluginDeps<unknown>>();
  const objects = new Map<string, readonly string[]>();
  const object = (name: string) =>
    pluginObject({
      object: name,
      description: metadataInterface,
      implementation: memoryMetadata(memoryMetadataWorld({ greeting: 'hello' })).metadata,
    });
  const kind = (name: string, isSingle: boolean, behave: 'well' | 'fails' | 'hangs'): BuiltInKind => ({
    kind: name,
    aliases: [],
    eventQos: 1,
    load: async () =>
      anyDefinition({
        kind: name,
        summary: 'for tests',
        isSingle,
        options: Options,
        start: async (deps) => {
          calls.push(`start ${deps.name}`);
          given.set(deps.name, deps);
          if (behave === 'fails') throw new Error('no such luck');
          return {
            objects: () => (objects.get(deps.name) ?? ['']).map(object),
            stop: async () => {
              calls.push(`stop ${deps.name}`);
              if (behave === 'hangs') await new Promise(() => undefined);
            },
          };
        },
      }),
  });
  return {
    kinds: [
      kind('toy', false, 'well'),
      kind('leader', true, 'well'),
      kind('failing', false, 'fails'),
      kind('hanging', false, 'hangs'),
    ],
    calls,
    given,
    setObjects: (name, names) => {
      objects.set(name, names);
      given.get(name)?.objectsChanged();
    },
  };
};
