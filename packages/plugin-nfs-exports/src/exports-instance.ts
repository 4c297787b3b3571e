import { AppError, digest as digestOf, type InstanceDescription, matchesTags } from '@infrakit/core';
import { type Serial, serial } from '@infrakit/runtime';
import { type CallContext, frozenCopy, type Instance, type Log } from '@infrakit/spi';
import type { ExportFolder, ExportRecord } from './export-file.ts';
import { parseExport } from './export-properties.ts';
import type { Exportfs } from './exportfs.ts';
import type { TableNames } from './table-name.ts';

/** What the exports are kept with. */
export interface ExportsDeps {
  readonly folder: ExportFolder;
  readonly exportfs: Exportfs;
  readonly names: TableNames;
  readonly newId: () => string;
  readonly log: Log;
}

const giveUp = ({ signal }: CallContext): void => {
  if (signal.aborted) throw new AppError('RPC_CANCELLED', 'the caller gave up', { cause: signal.reason });
};

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
export const exportsInstance = ({ folder, exportfs, names, newId, log }: ExportsDeps): ExportsInstance => {
  const inTurn: Serial = serial();
  let lastMissing = '';
  /** Whether the table was made equal to the files since the start: a predecessor may have died between the two. */
  let isApplied = false;

  /** The ids of exports that are not in the table. */
  const missingOf = async (
    records: readonly ExportRecord[],
    exported: ReadonlySet<string>,
  ): Promise<ReadonlySet<string>> => {
    const missing = new Set<string>();
    for (const { id, properties } of records) if (!(await names.isListed(properties, exported))) missing.add(id);
    return missing;
  };

  const existing = async (id: string): Promise<ExportRecord> => {
    const found = (await folder.read()).records.find((record) => record.id === id);
    if (found === undefined) throw new AppError('INSTANCE_NOT_FOUND', `there is no export ${id}`, { facts: { id } });
    return found;
  };

  const apply = async (): Promise<Awaited<ReturnType<Exportfs['apply']>>> => {
    names.forget();
    const applied = await exportfs.apply();
    isApplied = true;
    for (const complaint of applied.complaints) log.warn({ complaint }, 'exportfs complains');
    return applied;
  };

  /** Writes lines of ours anew that somebody has changed, and makes up for an apply that failed at the start. */
  const putRight = async (): Promise<void> => {
    const { altered } = await folder.read();
    for (const record of altered) {
      log.warn({ id: record.id }, 'somebody changed the line of an export, it is written anew');
      await folder.write(record);
    }
    if (altered.length > 0 || !isApplied) await apply();
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
    // Somebody exports the same with other options: one of the two is ignored, and ours gives way.
    const isDouble = complaints.some((line) => line.includes(`${Client}:${Path} `) && line.includes('[IGNORED]'));
    const isMissingFolder = complaints.some((line) => line.includes(`Failed to stat ${Path}:`));
    if (isMissingFolder || isDouble || !(await names.isListed(record.properties, exported)))
      await refuse(record, complaints);
  };

  const descriptionOf = (
    record: ExportRecord,
    missing: ReadonlySet<string>,
    hasProperties: boolean,
  ): InstanceDescription => ({
    ID: record.id,
    LogicalID: record.logicalId,
    Tags: record.tags,
    State: missing.has(record.id) ? 'missing' : 'exported',
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
          if (!(await names.isListed(living.properties, await exportfs.list()))) await make(living);
          return { id: living.id };
        }
        const areSame = await Promise.all(records.map((record) => names.isSame(record.properties, properties)));
        const other = records[areSame.indexOf(true)];
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
        const record = await existing(id);
        await folder.remove(id);
        try {
          await apply();
        } catch (error) {
          // It may still be in the table: it stays an instance, so that whoever wants it gone tries again.
          await folder.write(record);
          throw error;
        }
        return {};
      }),
    describe: async ({ tags, properties, digest }, ctx) => {
      giveUp(ctx);
      await inTurn(putRight);
      let [{ records, broken }, exported] = await Promise.all([folder.read(), exportfs.list()]);
      let missing = await missingOf(records, exported);
      if (missing.size > 0 && [...missing].join(' ') !== lastMissing) {
        // Somebody took it out of the table, or a call of ours is between the two: once is enough for either.
        log.info({ missing: [...missing] }, 'exports are not in the table, it is made anew');
        await inTurn(apply);
        [{ records, broken }, exported] = await Promise.all([folder.read(), exportfs.list()]);
        missing = await missingOf(records, exported);
      }
      lastMissing = [...missing].join(' ');
      if (broken.length > 0) log.warn({ broken }, 'files with the name of an export that are none were left alone');
      const instances = records
        .filter((record) => matchesTags(record.tags, tags))
        .map((record) => descriptionOf(record, missing, properties));
      const own = digestOf([tags, properties, instances]);
      return own === digest
        ? { kind: 'unchanged', digest: own }
        : frozenCopy({ kind: 'instances' as const, digest: own, instances });
    },
  };
};
