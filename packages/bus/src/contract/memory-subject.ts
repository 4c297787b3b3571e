import type { After, Log } from '@infrakit/spi';
import type { Connection } from '../connection/connection.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import type { ConnectionSubject } from './connection-scene.ts';

/** When the twin gives up a client that says nothing: sooner than a real broker, which waits for its keepalive. */
const muteMs = 300;

/** The twin as a subject of the contract; `wrap` may change each of its connections. */
export const memorySubject = (
  deps: { readonly after: After; readonly log: Log },
  wrap: (connection: Connection) => Connection = (connection) => connection,
): ConnectionSubject => {
  const broker = memoryBroker(deps);
  return {
    connect: async (options) => wrap(broker.connect(options)),
    connectMute: async (options) => {
      deps.after(muteMs, broker.connect(options).sever);
    },
    stop: async () => broker.stop(),
    start: async () => broker.start({ keepRetained: false }),
    freeze: broker.freeze,
    thaw: broker.thaw,
  };
};
