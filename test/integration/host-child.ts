import { runHost } from '@infrakit/host';

// A fault that nobody catches, when a test asks for one.
process.on('SIGUSR2', () => void Promise.reject(new Error('a fault in some plugin')));

/** A host as a process of its own, to be killed: plugins as arguments, settings by the environment. */
process.exit(await runHost(process.argv.slice(2), process.env, { version: '0.0.0-test' }));
