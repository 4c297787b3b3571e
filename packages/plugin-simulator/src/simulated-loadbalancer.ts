import { AppError, compareUtf8, HealthCheck, type Json, Route } from '@infrakit/core';
import { openFactLog } from '@infrakit/runtime';
import { frozenCopy, type LoadBalancer, type Log } from '@infrakit/spi';
import { z } from 'zod';
import type { Pretence } from './pretence.ts';

const Fact = z.union([
  z.strictObject({ route: Route }),
  z.strictObject({ noRoute: z.number() }),
  z.strictObject({ check: HealthCheck }),
  z.strictObject({ backends: z.array(z.string()) }),
  z.strictObject({ noBackends: z.array(z.string()) }),
]);
type Fact = z.infer<typeof Fact>;

/**
 * One simulated load balancer: tables of its own for routes, health checks and backends (EI-L1, EI-L2), kept at `path` or
 * in memory when it is null. Changes are durable, then visible, then answered, one after the other.
 */
export const openSimulatedLoadBalancer = async (
  path: string | null,
  facts: { readonly name: string; readonly pretence: Pretence; readonly log: Log },
): Promise<{ readonly loadBalancer: LoadBalancer; readonly close: () => Promise<void> }> => {
  const routes = new Map<number, Route>();
  const checks = new Map<number, HealthCheck>();
  const backends = new Set<string>();

  const apply = (fact: Fact): void => {
    if ('route' in fact) routes.set(fact.route.LoadBalancerPort, frozenCopy(fact.route));
    else if ('noRoute' in fact) routes.delete(fact.noRoute);
    else if ('check' in fact) checks.set(fact.check.BackendPort, frozenCopy(fact.check));
    else if ('backends' in fact) for (const id of fact.backends) backends.add(id);
    else for (const id of fact.noBackends) backends.delete(id);
  };

  const opened = await openFactLog(path, facts.log);
  for (const json of opened.facts) {
    const fact = Fact.safeParse(json);
    if (fact.success) apply(fact.data);
    else facts.log.warn({ path }, 'a record of another shape was left out');
  }

  let turn: Promise<unknown> = Promise.resolve();
  const change = (check: () => Fact): Promise<void> => {
    const next = turn.then(async () => {
      const fact = check();
      await opened.factLog.append(fact as unknown as Json, () => apply(fact));
      opened.factLog.trim(routes.size + checks.size + 1, () => [
        ...[...routes.values()].map((route): Json => ({ route: route as unknown as Json })),
        ...[...checks.values()].map((held): Json => ({ check: held as unknown as Json })),
        { backends: [...backends] },
      ]);
    });
    turn = next.catch(() => undefined);
    return next;
  };
  const { start } = facts.pretence;

  const loadBalancer: LoadBalancer = {
    name: async () => ({ name: facts.name }),
    routes: async (_, ctx) => {
      await start(ctx);
      return { routes: [...routes.values()].sort((left, right) => left.LoadBalancerPort - right.LoadBalancerPort) };
    },
    publish: async ({ route }, ctx) => {
      await start(ctx);
      await change(() => {
        const parsed = Route.safeParse(route);
        if (!parsed.success) {
          throw new AppError('ROUTE_INVALID', parsed.error.issues.map(({ message }) => message).join('; '));
        }
        const port = route.LoadBalancerPort;
        if (routes.has(port)) throw new AppError('ROUTE_CONFLICT', `duplicate port ${port}`, { facts: { port } });
        return { route: parsed.data };
      });
      return { result: 'publish' };
    },
    unpublish: async ({ port }, ctx) => {
      await start(ctx);
      await change(() => {
        if (!routes.has(port)) throw new AppError('ROUTE_NOT_FOUND', `unknown port ${port}`, { facts: { port } });
        return { noRoute: port };
      });
      return { result: 'unpublish' };
    },
    healthChecks: async (_, ctx) => {
      await start(ctx);
      return { checks: [...checks.values()].sort((left, right) => left.BackendPort - right.BackendPort) };
    },
    configureHealthCheck: async ({ check }, ctx) => {
      await start(ctx);
      await change(() => ({ check }));
      return { result: 'healthcheck' };
    },
    backends: async (_, ctx) => {
      await start(ctx);
      return { ids: [...backends].sort(compareUtf8) };
    },
    registerBackends: async ({ ids }, ctx) => {
      await start(ctx);
      await change(() => ({ backends: [...ids] }));
      return { result: 'ok' };
    },
    deregisterBackends: async ({ ids }, ctx) => {
      await start(ctx);
      await change(() => ({ noBackends: [...ids] }));
      return { result: 'ok' };
    },
  };
  return { loadBalancer, close: opened.factLog.close };
};
