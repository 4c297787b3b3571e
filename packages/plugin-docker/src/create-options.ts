import { parseDuration } from '@infrakit/core';
import type { ContainerCreateOptions } from 'dockerode';
import { bytesOf, type ContainerProperties } from './container-properties.ts';

const nanoseconds = (duration: string): number => Math.round(parseDuration(duration) * 1e6);

/** Where each port is found outside; one port may be found at several places. */
const bindingsOf = (ports: readonly (ContainerProperties['Ports'][number] & { readonly id: string })[]) => {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const { id, HostIP, HostPort } of ports) {
    bindings[id] = [...(bindings[id] ?? []), { HostIp: HostIP, HostPort: HostPort === 0 ? '' : String(HostPort) }];
  }
  return bindings;
};

/** What the engine is asked to create for properties and labels. A container that ends is removed, unless it restarts by itself. */
export const createOptions = (
  properties: ContainerProperties,
  facts: { readonly name: string; readonly labels: Record<string, string>; readonly init: string },
): ContainerCreateOptions => {
  const { Image, Command, Entrypoint, Env, Labels, User, WorkingDir, Networks, Ports, Mounts, Ulimits } = properties;
  const { Resources, RestartPolicy, HealthCheck, StopTimeout } = properties;
  const env = { ...Env, ...(facts.init !== '' && { INFRAKIT_INIT: facts.init }) };
  const ports = Ports.map((port) => ({ ...port, id: `${port.ContainerPort}/${port.Protocol}` }));
  return {
    name: facts.name,
    Image,
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { ...Labels, ...facts.labels },
    StopTimeout: Math.ceil(parseDuration(StopTimeout) / 1_000),
    ExposedPorts: Object.fromEntries(ports.map(({ id }) => [id, {}])),
    ...(Command !== undefined && { Cmd: Command }),
    ...(Entrypoint !== undefined && { Entrypoint }),
    ...(User !== undefined && { User }),
    ...(WorkingDir !== undefined && { WorkingDir }),
    ...(HealthCheck !== undefined && {
      Healthcheck: {
        Test: HealthCheck.Test,
        Interval: nanoseconds(HealthCheck.Interval),
        Timeout: nanoseconds(HealthCheck.Timeout),
        StartPeriod: nanoseconds(HealthCheck.StartPeriod),
        Retries: HealthCheck.Retries,
      },
    }),
    HostConfig: {
      AutoRemove: RestartPolicy === 'no',
      RestartPolicy: { Name: RestartPolicy === 'no' ? '' : RestartPolicy },
      PortBindings: bindingsOf(ports),
      Mounts: Mounts.map(({ Type, Source, Target, ReadOnly }) => ({ Type, Source: Source ?? '', Target, ReadOnly })),
      ...(Ulimits.length > 0 && { Ulimits }),
      ...(Networks[0] !== undefined && { NetworkMode: Networks[0] }),
      ...(Resources.Memory !== undefined && { Memory: bytesOf(Resources.Memory) }),
      ...(Resources.CPUs !== undefined && { NanoCpus: Math.round(Resources.CPUs * 1e9) }),
      ...(Resources.PidsLimit !== undefined && { PidsLimit: Resources.PidsLimit }),
    },
  };
};
