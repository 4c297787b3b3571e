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

/** What the folder holds of ours. */
export interface ExportFiles {
  /** By id. */
  readonly records: readonly ExportRecord[];
  /** Those of the records whose line somebody has changed: it is not what the record says. */
  readonly altered: readonly ExportRecord[];
  /** Files of our name that are none of ours to read. */
  readonly broken: readonly string[];
}

/** The folder of our export files; files of others in it are never opened for writing. */
export interface ExportFolder {
  readonly read: () => Promise<ExportFiles>;
  readonly write: (record: ExportRecord) => Promise<void>;
  readonly remove: (id: string) => Promise<void>;
}

const textOf = (record: ExportRecord): string =>
  `${marker}${JSON.stringify(record)}\n${exportLine(record.properties)}\n`;

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
        const altered: ExportRecord[] = [];
        const broken: string[] = [];
        for (const name of names.sort()) {
          const text = await readFile(join(folder, name), 'utf8');
          const record = recordOf(text);
          if (record === undefined || fileOf(endpoint, record.id) !== name) {
            broken.push(name);
            continue;
          }
          records.push(record);
          if (text.slice(text.indexOf('\n')) !== `\n${exportLine(record.properties)}\n`) altered.push(record);
        }
        return { records, altered, broken };
      } catch (error) {
        throw unavailable(error);
      }
    },
    write: async (record) => {
      try {
        await writeFileAtomic(join(folder, fileOf(endpoint, record.id)), textOf(record), { mode: 0o644, fsync: true });
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
