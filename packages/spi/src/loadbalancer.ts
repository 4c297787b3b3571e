import { HealthCheck, Route } from '@infrakit/core';
import { z } from 'zod';
import { mutating, reading, type SpiOf } from './interface.ts';

const Nothing = z.strictObject({});
const Result = z.strictObject({ result: z.string() });
const Backends = z.strictObject({ ids: z.array(z.string().min(1)) });
const Port = z.number().int().min(1).max(65535);

/**
 * One object is one load balancer (EI §4.1). `publish` on a used port is `ROUTE_CONFLICT`, `unpublish` of an unknown one
 * `ROUTE_NOT_FOUND`; routes are listed by port and backends by id; backends that are already in or out are no error.
 */
export const loadBalancerInterface = {
  name: 'L4',
  version: '1.0.0',
  methods: {
    name: reading(Nothing, z.strictObject({ name: z.string() })),
    routes: reading(Nothing, z.strictObject({ routes: z.array(Route) })),
    publish: mutating(z.strictObject({ route: Route }), Result),
    unpublish: mutating(z.strictObject({ port: Port }), Result),
    healthChecks: reading(Nothing, z.strictObject({ checks: z.array(HealthCheck) })),
    configureHealthCheck: mutating(z.strictObject({ check: HealthCheck }), Result),
    backends: reading(Nothing, Backends),
    registerBackends: mutating(Backends, Result),
    deregisterBackends: mutating(Backends, Result),
  },
} as const;

/** {@link loadBalancerInterface} as TypeScript. */
export type LoadBalancer = SpiOf<typeof loadBalancerInterface>;
