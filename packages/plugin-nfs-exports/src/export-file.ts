import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@infrakit/core';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { ExportProperties, exportLine } from './export-properties.ts';

/** One of our exports as its file keeps it. */
export const ExportRecord = z.strictObject({
  id: z.string().min(1),
  logicalId: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  key: z.string().optional(),
  properties: ExportProperties,
});
export type ExportRecord = z.infer<typeof ExportRecord>;

const marker = '# infrakit ';

/** The folder of our export files; files of others in it are never opened for writing. */
export interface ExportFolder {
  /** All of ours, by id. A file of our name that is not ours to read is left out and told by `broken`. */
  readonly read: () => Promise<{ readonly records: readonly ExportRecord[]; readonly broken: readonly string[] }>;
  readonly write: (record: ExportRecord) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
}

/** The name of an export's file: whose it is first, so that two endpoints can share a folder. */
const fileOf = (endpoint: string, id: string): string => `infrakit-${endpoint}-${id}.exports`;

const recordOf = (text: string): ExportRecord | undefined => {
  const [first = ''] = text.split('\n');
  if (!first.startsWith(marker)) return undefined;
  try {
    return ExportRecord.parse(JSON.parse(first.slice(marker.length)));
  } catch {
    return undefined;
  }
};

/** The exports of one endpoint in a folder of exports files, one file each, written atomically. */
export const exportFolder = (folder: string, endpoint: string): ExportFolder => {
  const unavailable = (error: unknown): AppError =>
    new AppError('STORE_UNAVAILABLE', `${folder} cannot be used: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  return {
    read: async () => {
      try {
        const prefix = `infrakit-${endpoint}-`;
        const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.exports'));
        const records: ExportRecord[] = [];
        const broken: string[] = [];
        for (const name of names.sort()) {
          const record = recordOf(await readFile(join(folder, name), 'utf8'));
          if (record !== undefined && fileOf(endpoint, record.id) === name) records.push(record);
          else broken.push(name);
        }
        return { records, broken };
      } catch (error) {
        throw unavailable(error);
      }
    },
    write: async (record) => {
      const text = `${marker}${JSON.stringify(record)}\n${exportLine(record.properties)}\n`;
      try {
        await writeFileAtomic(join(folder, fileOf(endpoint, record.id)), text, { mode: 0o644, fsync: true });
      } catch (error) {
        throw unavailable(error);
      }
    },
    remove: async (id) => {
      try {
        await unlink(join(folder, fileOf(endpoint, id)));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(error);
      }
    },
  };
};
