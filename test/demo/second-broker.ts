import { join } from 'node:path';
import { startEmbeddedBroker } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';
import { type PlainClient, subscribePlainly } from './plain-client.ts';

/** A broker at another site, and a plain client there that hears everything below `site1/`. */
export interface SecondBroker extends AsyncDisposable {
  /** Where the repeater publishes. */
  readonly url: string;
  /** Where the plain client listens. */
  readonly port: number;
  readonly client: PlainClient;
}

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** Starts both; the socket of the broker is in `folder`. */
export const startSecondBroker = async (folder: string): Promise<SecondBroker> => {
  const socketPath = join(folder, 'second.sock');
  const listen = { host: '127.0.0.1', port: 0 };
  const broker = await startEmbeddedBroker(
    { listen, socketPath, prefix: 'site1' },
    { log, after: realAfter, now: () => performance.now() },
  );
  const port = broker.port ?? 0;
  const client = await subscribePlainly(listen.host, port, 'site1/#');
  return {
    url: `unix:${socketPath}`,
    port,
    client,
    [Symbol.asyncDispose]: async () => {
      client.close();
      await broker.stop();
    },
  };
};
