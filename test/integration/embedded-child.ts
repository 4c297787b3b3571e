import { startEmbeddedBroker } from '@infrakit/bus';
import { realAfter } from '@infrakit/spi';

/** A process with nothing but an embedded broker, to be killed: arguments are the socket and the folder. Says `ready`. */
const [socketPath, persistenceDir] = process.argv.slice(2);
if (socketPath === undefined || persistenceDir === undefined) throw new Error('socket and folder are needed');
const write = (facts: unknown, message: string): void => console.error(message, facts);
await startEmbeddedBroker(
  { socketPath, persistenceDir },
  { log: { debug: write, info: write, warn: write, error: write }, after: realAfter, now: () => performance.now() },
);
console.log('ready');
