import { z } from 'zod';

const names = z.array(z.string().min(1)).default([]);

/** Start options of a manager (GP §4.5). */
export const ManagerOptions = z.strictObject({
  /** The plugin that keeps the groups. */
  Group: z.string().min(1).default('group'),
  /** Controllers that are committed to through this manager: `mystack/nfs` for `nfs`. */
  Controllers: names,
});
export type ManagerOptions = z.infer<typeof ManagerOptions>;

/** The options by environment variable; empty names are dropped (GP-M1). */
export const managerEnvironment: Readonly<Record<string, (text: string) => Partial<z.input<typeof ManagerOptions>>>> = {
  INFRAKIT_MANAGER_GROUP: (text) => ({ Group: text }),
  INFRAKIT_MANAGER_CONTROLLERS: (text) => ({
    Controllers: text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  }),
};
