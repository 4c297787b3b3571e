import { digest } from './canonical.ts';

/**
 * The key under which a sink makes an instance at most once: a hash of whose it is, what for (a source key or a slot), and of
 * what is rendered (Law 7). The same three give the same key for ever, in any process.
 */
export const idempotencyKey = (owner: string, source: string | number, content?: string): string =>
  digest(['provision', owner, source, content ?? null]);
