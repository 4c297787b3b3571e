import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, compareUtf8, digest as digestOf, type InstanceDescription, matchesTags } from '@infrakit/core';
import { type CallContext, fencingTerms, type Instance } from '@infrakit/spi';
import { z } from 'zod';

/** What a spec may ask of a note. */
const NoteProperties = z.strictObject({ Text: z.string().max(1_000_000) });

/** A note as its file says it. */
const Note = z.object({
  key: z.string().optional(),
  logicalId: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  text: z.string(),
});
type Note = z.infer<typeof Note>;

const propertiesOf = (properties: unknown): z.infer<typeof NoteProperties> => {
  const parsed = NoteProperties.safeParse(properties);
  if (parsed.success) return parsed.data;
  // All faults at once: who commits a spec mends it once.
  const faults = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new AppError('INSTANCE_INVALID', faults.join('; '), { facts: { faults } });
};

const stopIfGone = ({ signal }: CallContext): void => {
  if (signal.aborted) throw new AppError('RPC_CANCELLED', 'the caller gave up', { cause: signal.reason });
};

/** Notes in a folder. The folder is the only truth: nothing is remembered that a restart would lose. */
export const notesInstance = ({
  folder,
  newId,
}: {
  readonly folder: string;
  readonly newId: () => string;
}): Instance => {
  const terms = fencingTerms();
  const making = new Map<string, Promise<{ id: string }>>();
  const pathOf = (id: string): string => join(folder, `${encodeURIComponent(id).replaceAll('.', '%2E')}.json`);

  const read = async (id: string): Promise<Note> => {
    const text = await readFile(pathOf(id), 'utf8').catch(() => undefined);
    if (text === undefined) throw new AppError('INSTANCE_NOT_FOUND', `there is no note ${id}`, { facts: { id } });
    return Note.parse(JSON.parse(text));
  };
  const write = async (id: string, note: Note): Promise<void> => {
    await mkdir(folder, { recursive: true });
    const draft = `${pathOf(id)}.draft`;
    await writeFile(draft, JSON.stringify(note));
    await rename(draft, pathOf(id)); // Whole or not at all, also after kill -9.
  };
  /** All of them, or it fails: a shorter list would have their members taken for gone (Law 1). */
  const all = async (): Promise<[id: string, note: Note][]> => {
    await mkdir(folder, { recursive: true });
    const ids = (await readdir(folder))
      .filter((name) => name.endsWith('.json'))
      .map((name) => decodeURIComponent(name.slice(0, -5)));
    return Promise.all(ids.sort(compareUtf8).map(async (id): Promise<[string, Note]> => [id, await read(id)]));
  };

  return {
    validate: async ({ properties }) => {
      propertiesOf(properties);
      return {};
    },
    provision: async ({ spec }, ctx) => {
      stopIfGone(ctx);
      terms.admit(ctx.fencing);
      const key = ctx.idempotencyKey;
      const make = async (): Promise<{ id: string }> => {
        // The same key asks for the same living note, however often it is sent (Law 7).
        const living = key === undefined ? undefined : (await all()).find(([, note]) => note.key === key);
        if (living !== undefined) return { id: living[0] };
        const id = newId();
        const text = propertiesOf(spec.Properties).Text;
        await write(id, { ...(key !== undefined && { key }), logicalId: spec.LogicalID, tags: spec.Tags, text });
        return { id };
      };
      if (key === undefined) return make();
      const running = making.get(key) ?? make().finally(() => making.delete(key));
      making.set(key, running);
      return running;
    },
    label: async ({ id, labels }, ctx) => {
      stopIfGone(ctx);
      terms.admit(ctx.fencing);
      const note = await read(id);
      await write(id, { ...note, tags: { ...note.tags, ...labels } });
      return {};
    },
    destroy: async ({ id }, ctx) => {
      stopIfGone(ctx);
      terms.admit(ctx.fencing);
      await read(id);
      await rm(pathOf(id));
      return {};
    },
    describe: async ({ tags, properties, digest }) => {
      const instances = (await all())
        .filter(([, note]) => matchesTags(note.tags, tags))
        .map(
          ([ID, note]): InstanceDescription => ({
            ID,
            LogicalID: note.logicalId,
            Tags: note.tags,
            ...(properties && { Properties: { Text: note.text } }),
          }),
        );
      const now = digestOf([tags, properties, instances]);
      // Who has this list already is not sent it again.
      return now === digest ? { kind: 'unchanged', digest } : { kind: 'instances', digest: now, instances };
    },
  };
};
