import { advertisedNames, fullName, type PluginRecord } from './plugin-record.ts';

/** Which object stands for which, by the name of the managed one. */
export interface ProxyTable {
  readonly find: (name: string) => string | undefined;
  /** Something changed: it is made anew when it is next asked. */
  readonly forget: () => void;
}

/** The table of what the answering plugins advertise as `proxyFor` or `changesFor` (DESIGN §3). */
export const proxyTable = (actives: () => readonly PluginRecord[]): ProxyTable => {
  let table: ReadonlyMap<string, string> | undefined;
  const make = (): ReadonlyMap<string, string> => {
    const made = new Map<string, string>();
    for (const { plugin, advertisement } of actives()) {
      for (const [object, { proxyFor, changesFor }] of advertisedNames(advertisement)) {
        const managed = proxyFor ?? changesFor;
        if (managed !== undefined) made.set(managed, fullName(plugin, object));
      }
    }
    return made;
  };
  return {
    find: (name) => {
      table ??= make();
      return table.get(name);
    },
    forget: () => {
      table = undefined;
    },
  };
};
