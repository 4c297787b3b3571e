import { join } from 'node:path';
import { parseDuration } from '@infrakit/core';
import { topicTree } from '@infrakit/runtime';
import { eventInterface, instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { cleanUp } from './clean-up.ts';
import { containerInstance } from './container-instance.ts';
import { Duration } from './container-properties.ts';
import { openEngine } from './engine.ts';
import { followEngine } from './follow-engine.ts';

/** Start options. */
export const DockerOptions = z.strictObject({
  Host: z
    .string()
    .min(1)
    .default('unix:///var/run/docker.sock')
    .describe('The engine: `unix:///var/run/docker.sock` or `tcp://host:port`.'),
  TLS: z
    .strictObject({
      CA: z.string().optional().describe('PEM file of the authority.'),
      Cert: z.string().optional().describe('PEM file of our certificate.'),
      Key: z.string().optional().describe('PEM file of its key.'),
    })
    .optional()
    .describe('TLS is spoken when it is there.'),
  CleanUpAfter: Duration.default('1m').describe(
    'How long one of our containers may be there without running before it is removed.',
  ),
});

/** The files that Docker's own tools look for in a folder. */
const tlsOf = (folder: string) => ({
  TLS: { CA: join(folder, 'ca.pem'), Cert: join(folder, 'cert.pem'), Key: join(folder, 'key.pem') },
});

/** Containers as instances: `<name>/container`. Changes of containers are events, so that a group looks at once. */
export const dockerDefinition: PluginDefinition<typeof DockerOptions> = {
  kind: 'docker',
  summary: 'containers as instances, by the Docker Engine API',
  isSingle: false,
  options: DockerOptions,
  // A later one of these is stronger than an earlier one.
  environment: {
    DOCKER_HOST: (text) => ({ Host: text }),
    DOCKER_CERT_PATH: tlsOf,
    INFRAKIT_DOCKER_HOST: (text) => ({ Host: text }),
    INFRAKIT_DOCKER_CERT_PATH: tlsOf,
    INFRAKIT_DOCKER_CLEAN_UP_AFTER: (text) => ({ CleanUpAfter: text }),
  },
  start: async ({ name, options, newId, log, events, nowMs, variable }) => {
    const { Host: host, TLS, CleanUpAfter } = options;
    const tls = TLS === undefined ? undefined : { ca: TLS.CA, cert: TLS.Cert, key: TLS.Key };
    const engine = await openEngine({ host, tls });
    const implementation = containerInstance({ engine, endpoint: name, newId, log, variable });
    const stopFollowing = followEngine({ engine, endpoint: name, log }, ({ id, what }) =>
      events.publish({
        Topic: 'container/changed',
        Type: 'container',
        ID: id,
        Message: what,
        Timestamp: new Date(nowMs()).toISOString(),
      }),
    );
    const objects = [
      pluginObject({ object: '', description: eventInterface, implementation: topicTree(() => ['container/changed']) }),
      pluginObject({ object: 'container', description: instanceInterface, implementation }),
    ];
    const stopCleaning = cleanUp({ engine, endpoint: name, log, afterMs: parseDuration(CleanUpAfter) });
    return {
      objects: () => objects,
      stop: async () => {
        stopCleaning();
        stopFollowing();
      },
    };
  },
};
