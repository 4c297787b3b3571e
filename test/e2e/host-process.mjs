import { runHost } from '@infrakit/host';

/** A host as a process of its own, to be killed: plugins as arguments, settings by the environment. From the build. */
process.exit(await runHost(process.argv.slice(2), process.env, { version: '0.0.0-test' }));
