import { Attachment } from '@infrakit/core';
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
