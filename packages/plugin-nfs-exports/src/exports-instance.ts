import { AppError, digest as digestOf, type InstanceDescription, matchesTags } from '@infrakit/core';
import { type Serial, serial } from '@infrakit/runtime';
import { type CallContext, frozenCopy, type Instance, type Log } from '@infrakit/spi';
import type { ExportFolder, ExportRecord } from './export-file.ts';
import { parseExport } from './export-properties.ts';
import { type Exportfs, tableName } from './exportfs.ts';

/** What the exports are kept with. */
export interface ExportsDeps {
  readonly folder: ExportFolder;
  readonly exportfs: Exportfs;
  readonly newId: () => string;
  readonly log: Log;
}

const giveUp = ({ signal }: CallContext): void => {
  if (signal.aborted) throw new AppError('RPC_CANCELLED', 'the caller gave up', { cause: signal.reason });
};

const isExported = ({ properties: { Path, Client } }: ExportRecord, exported: ReadonlySet<string>): boolean =>
  exported.has(tableName(Path, Client));

/** The ids of exports that are not in the table, as one text; empty when all are. */
const missingOf = (records: readonly ExportRecord[], exported: ReadonlySet<string>): string =>
  records
    .filter((record) => !isExported(record, exported))
    .map(({ id }) => id)
    .join(' ');

const sameExport = (left: ExportRecord['properties'], right: ExportRecord['properties']): boolean =>
  left.Path === right.Path && left.Client === right.Client;

/** {@link Instance}, and a way to make the table equal to the files without a change of one's own. */
export interface ExportsInstance extends Instance {
  /** For the start: a predecessor may have died between a file and the table. */
  readonly applyAll: () => Promise<void>;
}

/**
 * NFS exports as instances: one file each, then `exportfs -ra`, then a look at what is really exported. An export that is
 * refused is taken back, and the error says what exportfs said. Lines of others are theirs: a broken one is told in the log
 * and blocks nobody.
 */
export const exportsInstance = ({ folder, exportfs, newId, log }: ExportsDeps): ExportsInstance => {
  const inTurn: Serial = serial();
  let lastMissing = '';

  const existing = async (id: string): Promise<ExportRecord> => {
    const found = (await folder.read()).records.find((record) => record.id === id);
    if (found === undefined) throw new AppError('INSTANCE_NOT_FOUND', `there is no export ${id}`, { facts: { id } });
    return found;
  };

  const apply = async (): Promise<Awaited<ReturnType<Exportfs['apply']>>> => {
    const applied = await exportfs.apply();
    for (const complaint of applied.complaints) log.warn({ complaint }, 'exportfs complains');
    return applied;
  };

  /** Takes an export back and says why, in the words of exportfs. */
  const refuse = async (record: ExportRecord, complaints: readonly string[]): Promise<never> => {
    await folder.remove(record.id);
    await apply();
    const { Path, Client } = record.properties;
    const about = complaints.filter((line) => line.includes(Path) || line.includes(Client) || line.includes(record.id));
    const why = about.length > 0 ? about.join('; ') : 'it is not in the table afterwards';
    throw new AppError('INSTANCE_FAILED', `${Path} was not exported to ${Client}: ${why}`, { facts: { complaints } });
  };

  const make = async (record: ExportRecord): Promise<void> => {
    await folder.write(record);
    const { complaints, exported } = await apply();
    const { Path, Client } = record.properties;
    const isMissingFolder = complaints.some((line) => line.includes(`Failed to stat ${Path}:`));
    if (!exported.has(tableName(Path, Client)) || isMissingFolder) await refuse(record, complaints);
  };

  const descriptionOf = (
    record: ExportRecord,
    exported: ReadonlySet<string>,
    hasProperties: boolean,
  ): InstanceDescription => ({
    ID: record.id,
    LogicalID: record.logicalId,
    Tags: record.tags,
    State: isExported(record, exported) ? 'exported' : 'missing',
    ...(hasProperties && { Properties: record.properties }),
  });

  return {
    applyAll: () => inTurn(async () => void (await apply())),
    validate: async ({ properties }, ctx) => {
      giveUp(ctx);
      parseExport(properties);
      return {};
    },
    provision: ({ spec }, ctx) =>
      inTurn(async () => {
        giveUp(ctx);
        const properties = parseExport(spec.Properties);
        const { records } = await folder.read();
        const key = ctx.idempotencyKey;
        const living = key === undefined ? undefined : records.find((record) => record.key === key);
        if (living !== undefined) {
          if (!isExported(living, await exportfs.list())) await make(living);
          return { id: living.id };
        }
        const other = records.find((record) => sameExport(record.properties, properties));
        if (other !== undefined) {
          const { Path, Client } = properties;
          throw new AppError('INSTANCE_FAILED', `${Path} is exported to ${Client} already, by ${other.id}`);
        }
        const id = newId();
        const { LogicalID: logicalId, Tags } = spec;
        await make({ id, logicalId, tags: { ...Tags }, properties, ...(key !== undefined && { key }) });
        return { id };
      }),
    label: ({ id, labels }, ctx) =>
      inTurn(async () => {
        giveUp(ctx);
        const record = await existing(id);
        await folder.write({ ...record, tags: { ...record.tags, ...labels } });
        return {};
      }),
    destroy: ({ id }, ctx) =>
      inTurn(async () => {
        giveUp(ctx);
        await existing(id);
        await folder.remove(id);
        await apply();
        return {};
      }),
    describe: async ({ tags, properties, digest }, ctx) => {
      giveUp(ctx);
      let [{ records, broken }, exported] = await Promise.all([folder.read(), exportfs.list()]);
      const missing = missingOf(records, exported);
      if (missing !== '' && missing !== lastMissing) {
        // Somebody took it out of the table, or a call of ours is between the two: once is enough for either.
        log.info({ missing }, 'exports are not in the table, it is made anew');
        await inTurn(apply);
        [{ records, broken }, exported] = await Promise.all([folder.read(), exportfs.list()]);
      }
      lastMissing = missingOf(records, exported);
      if (broken.length > 0) log.warn({ broken }, 'files with the name of an export that are none were left alone');
      const instances = records
        .filter((record) => matchesTags(record.tags, tags))
        .map((record) => descriptionOf(record, exported, properties));
      const own = digestOf([tags, properties, instances]);
      return own === digest
        ? { kind: 'unchanged', digest: own }
        : frozenCopy({ kind: 'instances' as const, digest: own, instances });
    },
  };
};
