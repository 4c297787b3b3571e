import { AppError, Attachment } from '@infrakit/core';
import { decodePart } from '@infrakit/document';
import { z } from 'zod';

/** What a vanilla member gets; all of it is optional (GP §2.9). */
export const VanillaProperties = z
  .strictObject({
    Init: z.array(z.string()).optional(),
    InitScriptTemplateURL: z.string().min(1).optional(),
    Tags: z.record(z.string(), z.string()).optional(),
    Attachments: z.array(Attachment).optional(),
  })
  .refine(({ Init, InitScriptTemplateURL }) => Init === undefined || InitScriptTemplateURL === undefined, {
    error: 'Either "Init" or "InitScriptTemplateURL" can be specified but not both',
  });
export type VanillaProperties = z.infer<typeof VanillaProperties>;

/** The properties of a flavor by its schema; `FLAVOR_INVALID` names every fault at once. */
export const parseProperties = <S extends z.ZodType>(schema: S, properties: unknown): z.output<S> => {
  const { value, faults } = decodePart('', properties ?? {}, schema);
  if (value === undefined) throw new AppError('FLAVOR_INVALID', faults.join('; '), { facts: { faults } });
  return value;
};
