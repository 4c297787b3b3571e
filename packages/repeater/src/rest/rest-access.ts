import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Who may use it. */
export type RestAccess =
  /** Whoever reaches it: the mode of the socket says who does. */
  | { readonly kind: 'socket' }
  /** Whoever is on this machine, save browsers. */
  | { readonly kind: 'loopback' }
  | { readonly kind: 'token'; readonly token: string };

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const isToken = (header: string | undefined, token: string): boolean =>
  timingSafeEqual(digestOf(header ?? ''), digestOf(`Bearer ${token}`));

const isLocalName = (host: string | undefined): boolean => {
  const name = (host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isIP(name) !== 0;
};

/**
 * Lets nobody in who must not (GP-R18). Without a token a page in a browser on this machine could send requests, or come under
 * a name that it made point here: both are refused.
 */
export const guard = (app: FastifyInstance, access: RestAccess): void => {
  app.addHook('onRequest', async (request, reply) => {
    if (access.kind === 'token' && !isToken(request.headers.authorization, access.token)) {
      return reply.code(401).header('www-authenticate', 'Bearer').send({ error: 'a bearer token is needed' });
    }
    const { origin, host } = request.headers;
    if (access.kind === 'loopback' && (origin !== undefined || !isLocalName(host))) {
      return reply.code(403).send({ error: 'browsers are not let in without a bearer token' });
    }
    return undefined;
  });
};
