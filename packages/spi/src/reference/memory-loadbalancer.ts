import { AppError, compareUtf8, type HealthCheck, Route } from '@infrakit/core';
import { frozenCopy } from '../frozen-copy.ts';
import type { LoadBalancer } from '../loadbalancer.ts';
import { type MemoryGate, memoryGate } from './memory-gate.ts';

/** The tables of one load balancer, which outlive restarts of its plugin. */
export interface MemoryLoadBalancerWorld extends MemoryGate {
  /** By frontend port. */
  readonly routes: Map<number, Route>;
  readonly backends: Set<string>;
  /** By backend port. */
  readonly checks: Map<number, HealthCheck>;
}

/** Empty tables. */
export const memoryLoadBalancerWorld = (): MemoryLoadBalancerWorld => ({
  ...memoryGate(),
  routes: new Map(),
  backends: new Set(),
  checks: new Map(),
});

/** One load balancer in memory. The same world given again is a restart. Result texts are those of the old simulator (EI §4.4). */
export const memoryLoadBalancer = (
  options: { readonly name?: string; readonly world?: MemoryLoadBalancerWorld } = {},
): { readonly loadBalancer: LoadBalancer; readonly world: MemoryLoadBalancerWorld } => {
  const { name = 'lb1', world = memoryLoadBalancerWorld() } = options;
  const { enter, routes, backends, checks } = world;
  const loadBalancer: LoadBalancer = {
    name: async (_, ctx) => {
      await enter(ctx);
      return { name };
    },
    routes: async (_, ctx) => {
      await enter(ctx);
      return { routes: [...routes.values()].sort((left, right) => left.LoadBalancerPort - right.LoadBalancerPort) };
    },
    publish: async ({ route }, ctx) => {
      await enter(ctx);
      const parsed = Route.safeParse(route);
      if (!parsed.success) {
        throw new AppError('ROUTE_INVALID', parsed.error.issues.map(({ message }) => message).join('; '));
      }
      const port = route.LoadBalancerPort;
      if (routes.has(port)) throw new AppError('ROUTE_CONFLICT', `duplicate port ${port}`, { facts: { port } });
      routes.set(port, frozenCopy(parsed.data));
      return { result: 'publish' };
    },
    unpublish: async ({ port }, ctx) => {
      await enter(ctx);
      if (!routes.delete(port)) throw new AppError('ROUTE_NOT_FOUND', `unknown port ${port}`, { facts: { port } });
      return { result: 'unpublish' };
    },
    healthChecks: async (_, ctx) => {
      await enter(ctx);
      return { checks: [...checks.values()].sort((left, right) => left.BackendPort - right.BackendPort) };
    },
    configureHealthCheck: async ({ check }, ctx) => {
      await enter(ctx);
      checks.set(check.BackendPort, frozenCopy(check));
      return { result: 'healthcheck' };
    },
    backends: async (_, ctx) => {
      await enter(ctx);
      return { ids: [...backends].sort(compareUtf8) };
    },
    registerBackends: async ({ ids }, ctx) => {
      await enter(ctx);
      for (const id of ids) backends.add(id);
      return { result: 'ok' };
    },
    deregisterBackends: async ({ ids }, ctx) => {
      await enter(ctx);
      for (const id of ids) backends.delete(id);
      return { result: 'ok' };
    },
  };
  return { loadBalancer, world };
};
