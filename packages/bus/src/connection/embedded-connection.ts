import type { After, Log } from '@infrakit/spi';
import type { EmbeddedBroker } from '../broker/embedded-broker.ts';
import type { Connection, Will } from './connection.ts';
import { linkedConnection } from './linked-connection.ts';

export interface EmbeddedConnectionOptions {
  /** The broker of this process that is there now. */
  readonly broker: () => EmbeddedBroker;
  readonly clientId: string;
  readonly will?: Will;
}

export interface EmbeddedConnectionDeps {
  readonly after: After;
  readonly log: Log;
}

/** Until a client tries again after its broker has ended, in ms. */
const waitMs = 100;
const timeoutMs = 10_000;

/** A client of a broker in this process, with every right, connected at once: nothing that it says or hears passes a socket. */
export const connectEmbedded = (options: EmbeddedConnectionOptions, deps: EmbeddedConnectionDeps): Connection => {
  const { broker, ...client } = options;
  return linkedConnection(
    {
      clientId: client.clientId,
      broker: 'the embedded broker',
      open: (listener) => broker().open(client)(listener),
      waitMs: () => waitMs,
      timeoutMs,
    },
    deps,
  );
};
