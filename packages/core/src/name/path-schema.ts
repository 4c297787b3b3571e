import { z } from 'zod';
import { formatPath, parsePath } from './path.ts';

/** A path in a document: any string in, its clean text out. */
export const Path = z.string().overwrite((text) => formatPath(parsePath(text)));
export type Path = z.infer<typeof Path>;
