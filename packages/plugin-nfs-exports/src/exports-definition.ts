import { mkdir } from 'node:fs/promises';
import { encodeLevel } from '@infrakit/core';
import { instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { exportFolder } from './export-file.ts';
import { exportfs } from './exportfs.ts';
import { exportsInstance } from './exports-instance.ts';
import { tableNames } from './table-name.ts';

/** Start options. */
export const ExportsOptions = z.strictObject({
  Dir: z.string().min(1).default('/etc/exports.d').describe('Where exportfs reads files that end in `.exports`.'),
  Command: z
    .array(z.string().min(1))
    .min(1)
    .default(['exportfs'])
    .describe('The program, and what stands before its own arguments, such as `[sudo, exportfs]`.'),
});

/** NFS exports as instances: `<name>/export`. */
export const nfsExportsDefinition: PluginDefinition<typeof ExportsOptions> = {
  kind: 'nfs-exports',
  summary: 'NFS exports as instances, kept by exportfs',
  isSingle: false,
  options: ExportsOptions,
  environment: { INFRAKIT_NFS_EXPORTS_DIR: (text) => ({ Dir: text }) },
  start: async ({ name, options, newId, log }) => {
    await mkdir(options.Dir, { recursive: true });
    const folder = exportFolder(options.Dir, encodeLevel(name));
    const implementation = exportsInstance({
      folder,
      exportfs: exportfs(options.Command),
      names: tableNames(),
      newId,
      log,
    });
    await implementation.applyAll().catch((error: unknown) => log.warn({ err: error }, 'the table is as it was'));
    const objects = [pluginObject({ object: 'export', description: instanceInterface, implementation })];
    return { objects: () => objects, stop: async () => undefined };
  },
};
