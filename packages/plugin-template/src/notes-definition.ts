import { AppError } from '@infrakit/core';
import { instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { notesInstance } from './notes-instance.ts';

/** Start options. */
const NotesOptions = z.strictObject({
  /** Where the notes are kept; a folder of the host's when left out. */
  Folder: z.string().min(1).optional(),
});

/** Notes as instances, one file each: `<name>/note`. */
export const notesDefinition: PluginDefinition<typeof NotesOptions> = {
  kind: 'notes',
  summary: 'notes as instances, one file each',
  isSingle: false,
  options: NotesOptions,
  environment: { NOTES_FOLDER: (text) => ({ Folder: text }) },
  start: async ({ options, stateDir, newId }) => {
    const folder = options.Folder ?? (await stateDir());
    if (folder === null) throw new AppError('ARGUMENT_INVALID', 'notes need a Folder where the host keeps nothing');
    const implementation = notesInstance({ folder, newId });
    const objects = [pluginObject({ object: 'note', description: instanceInterface, implementation })];
    return { objects: () => objects, stop: async () => undefined };
  },
};
