import { instanceInterface, type PluginDefinition, pluginObject } from '@infrakit/spi';
import { z } from 'zod';
import { containerInstance, followEngine } from './container-instance.ts';
import { openEngine } from './engine.ts';

/** Start options. */
export const DockerOptions = z.strictObject({
  /** The engine: `unix:///var/run/docker.sock` or `tcp://host:port`. */
  Host: z.string().min(1).default('unix:///var/run/docker.sock'),
  /** Files with the authority, our certificate and its key, PEM. */
  TLS: z
    .strictObject({ CA: z.string().optional(), Cert: z.string().optional(), Key: z.string().optional() })
    .optional(),
});

/** Containers as instances: `<name>/container`. Changes of containers are events, so that a group looks at once. */
export const dockerDefinition: PluginDefinition<typeof DockerOptions> = {
  kind: 'docker',
  summary: 'containers as instances, by the Docker Engine API',
  isSingle: false,
  options: DockerOptions,
  environment: { INFRAKIT_DOCKER_HOST: (text) => ({ Host: text }), DOCKER_HOST: (text) => ({ Host: text }) },
  start: async ({ name, options, newId, log, events, nowMs }) => {
    const { Host: host, TLS } = options;
    const tls = TLS === undefined ? undefined : { ca: TLS.CA, cert: TLS.Cert, key: TLS.Key };
    const engine = await openEngine({ host, tls });
    const implementation = containerInstance({ engine, endpoint: name, newId, log });
    const stop = followEngine({ engine, endpoint: name, log }, ({ id, what }) =>
      events.publish({
        Topic: 'container/changed',
        Type: 'container',
        ID: id,
        Message: what,
        Timestamp: new Date(nowMs()).toISOString(),
      }),
    );
    const objects = [pluginObject({ object: 'container', description: instanceInterface, implementation })];
    return { objects: () => objects, stop: async () => stop() };
  },
};
