import { AppError, type HealthCheck, type Route } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import type { LoadBalancer } from '../loadbalancer.ts';
import {
  type MemoryLoadBalancerWorld,
  memoryLoadBalancer,
  memoryLoadBalancerWorld,
} from '../reference/memory-loadbalancer.ts';
import { type LoadBalancerSubject, loadBalancerContract } from './loadbalancer-contract.ts';
import { runContract } from './run-contract.ts';
import { realAfter } from './testing-context.ts';

type Wrap = (loadBalancer: LoadBalancer, world: MemoryLoadBalancerWorld) => LoadBalancer;

const route = (n: number): Route => ({
  Port: 8000 + n,
  Protocol: 'TCP',
  LoadBalancerPort: 20_000 - n * 3_000,
  LoadBalancerProtocol: 'TCP',
  Certificate: null,
  HealthMonitorPath: `/health/${n}`,
});

const healthCheck = (n: number, variant: number): HealthCheck => ({
  BackendPort: 8000 + n,
  Healthy: variant,
  Unhealthy: variant + 1,
  Interval: 10_000_000_000,
  Timeout: 5_000_000_000,
});

const subject =
  (wrap: Wrap = (loadBalancer) => loadBalancer) =>
  async (): Promise<LoadBalancerSubject & AsyncDisposable> => {
    const world = memoryLoadBalancerWorld();
    const start = (): LoadBalancer => wrap(memoryLoadBalancer({ name: 'lb7', world }).loadBalancer, world);
    let loadBalancer = start();
    return {
      get loadBalancer() {
        return loadBalancer;
      },
      name: 'lb7',
      route,
      otherRoute: (n) => ({ ...route(n), Port: 9000 + n }),
      backend: (n) => `backend-${9 - n}`,
      healthCheck,
      isEventuallyConsistent: false,
      neighbour: memoryLoadBalancer({ name: 'lb8' }).loadBalancer,
      world: {
        stall: async () => {
          const goOn = world.stall();
          return async () => goOn();
        },
      },
      restart: async () => {
        loadBalancer = start();
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  };

const run = async (make: () => Promise<LoadBalancerSubject & AsyncDisposable>) => {
  const results = await runContract(loadBalancerContract, make, { after: realAfter, caseTimeoutMs: 2_000 });
  expect(results.filter(({ kind }) => kind === 'skipped')).toEqual([]);
  return results.filter(({ kind }) => kind === 'failed').map(({ name }) => name);
};

const listsRoutes = (loadBalancer: LoadBalancer, change: (routes: Route[]) => Route[]): LoadBalancer => ({
  ...loadBalancer,
  routes: async (params, ctx) => ({ routes: change((await loadBalancer.routes(params, ctx)).routes) }),
});

/** One broken thing each, and all cases that notice. */
const broken: readonly (readonly [what: string, notice: readonly string[], wrap: Wrap])[] = [
  ['hides its name', ['it says its name'], (lb) => ({ ...lb, name: async () => ({ name: '' }) })],
  [
    'lists routes in no order',
    [
      'published routes are listed whole, by port',
      'publishes at once on many ports all stay',
      'unpublish removes the route of the port and no other',
      'routes, backends and checks outlive a restart',
    ],
    (lb) => listsRoutes(lb, (routes) => routes.toReversed()),
  ],
  [
    'loses the health path',
    [
      'published routes are listed whole, by port',
      'a used port is refused, and its route stays',
      'the same route published twice is there once',
      'publishes at once on many ports all stay',
      'unpublish removes the route of the port and no other',
      'a health check is no route',
      'routes, backends and checks outlive a restart',
      'what a caller does to a result changes nothing for others',
    ],
    (lb) => ({
      ...lb,
      publish: ({ route: each }, ctx) => lb.publish({ route: { ...each, HealthMonitorPath: null } }, ctx),
    }),
  ],
  [
    'overwrites the route of a used port',
    ['a used port is refused, and its route stays'],
    (lb, world) => ({
      ...lb,
      publish: async (params, ctx) => {
        world.routes.delete(params.route.LoadBalancerPort);
        return lb.publish(params, ctx);
      },
    }),
  ],
  [
    'looks for a used port before it waits',
    ['of two publishes at once on one port one wins'],
    (lb, world) => ({
      ...lb,
      publish: async (params, ctx) => {
        const port = params.route.LoadBalancerPort;
        if (world.routes.has(port)) throw new AppError('ROUTE_CONFLICT', 'used');
        return lb.publish(params, ctx).catch((error: unknown) => {
          if (!(error instanceof AppError) || error.code !== 'ROUTE_CONFLICT') throw error;
          world.routes.set(port, params.route);
          return { result: 'publish' };
        });
      },
    }),
  ],
  [
    'writes the whole table of routes back',
    ['publishes at once on many ports all stay'],
    (lb, world) => ({
      ...lb,
      publish: async (params, ctx) => {
        const before = [...world.routes];
        const answer = await lb.publish(params, ctx);
        const added = [...world.routes].filter(([port]) => port === params.route.LoadBalancerPort);
        world.routes.clear();
        for (const [port, each] of [...before, ...added]) world.routes.set(port, each);
        return answer;
      },
    }),
  ],
  [
    'unpublishes everything',
    ['unpublish removes the route of the port and no other'],
    (lb, world) => ({
      ...lb,
      unpublish: async (params, ctx) => {
        const answer = await lb.unpublish(params, ctx);
        world.routes.clear();
        return answer;
      },
    }),
  ],
  [
    'unpublishes what is not there with success',
    ['unpublish of an unknown port is refused'],
    (lb) => ({ ...lb, unpublish: (params, ctx) => lb.unpublish(params, ctx).catch(() => ({ result: 'ok' })) }),
  ],
  [
    'checks no route',
    ['an invalid route is refused'],
    (lb, world) => ({
      ...lb,
      publish: async (params, ctx) => {
        const { LoadBalancerPort: port, LoadBalancerProtocol: protocol } = params.route;
        if (protocol !== 'HTTPS') return lb.publish(params, ctx);
        world.routes.set(port, params.route);
        return { result: 'publish' };
      },
    }),
  ],
  [
    'lists backends in no order',
    [
      'registered backends are listed by id',
      'a backend that is in already is no error, and in once',
      'deregister removes these backends and no others',
      'registrations at once all stay',
      'routes, backends and checks outlive a restart',
    ],
    (lb) => ({
      ...lb,
      backends: async (params, ctx) => ({ ids: (await lb.backends(params, ctx)).ids.toReversed() }),
    }),
  ],
  [
    'refuses a backend that is in',
    ['a backend that is in already is no error, and in once'],
    (lb, world) => ({
      ...lb,
      registerBackends: async (params, ctx) => {
        if (params.ids.some((id) => world.backends.has(id))) throw new Error('in already');
        return lb.registerBackends(params, ctx);
      },
    }),
  ],
  [
    'refuses a backend that is out',
    ['a backend that is out already is no error'],
    (lb, world) => ({
      ...lb,
      deregisterBackends: async (params, ctx) => {
        if (!params.ids.every((id) => world.backends.has(id))) throw new Error('out already');
        return lb.deregisterBackends(params, ctx);
      },
    }),
  ],
  [
    'takes an empty list for all',
    ['an empty list of backends changes nothing'],
    (lb, world) => ({
      ...lb,
      deregisterBackends: (params, ctx) =>
        lb.deregisterBackends(params.ids.length === 0 ? { ids: [...world.backends] } : params, ctx),
    }),
  ],
  [
    'replaces the backends',
    ['registered backends are listed by id', 'an empty list of backends changes nothing'],
    (lb, world) => ({
      ...lb,
      registerBackends: (params, ctx) => {
        world.backends.clear();
        return lb.registerBackends(params, ctx);
      },
    }),
  ],
  [
    'deregisters all of them',
    ['deregister removes these backends and no others', 'a backend that is out already is no error'],
    (lb, world) => ({
      ...lb,
      deregisterBackends: async (params, ctx) => {
        const answer = await lb.deregisterBackends(params, ctx);
        if (params.ids.length > 0) world.backends.clear();
        return answer;
      },
    }),
  ],
  [
    'keeps the first health check',
    ['a health check is listed, and replaced by the next for its port'],
    (lb, world) => ({
      ...lb,
      configureHealthCheck: async (params, ctx) =>
        world.checks.has(params.check.BackendPort) ? { result: 'ok' } : lb.configureHealthCheck(params, ctx),
    }),
  ],
  [
    'has room for one health check',
    ['health checks of other ports stay'],
    (lb, world) => ({
      ...lb,
      configureHealthCheck: (params, ctx) => {
        world.checks.clear();
        return lb.configureHealthCheck(params, ctx);
      },
    }),
  ],
  [
    'writes health checks among the routes',
    ['a health check is no route'],
    (lb, world) => ({
      ...lb,
      configureHealthCheck: async (params, ctx) => {
        const port = params.check.BackendPort;
        world.routes.set(port, { ...route(1), Port: port, LoadBalancerPort: port });
        return lb.configureHealthCheck(params, ctx);
      },
    }),
  ],
  [
    'forgets its backends at a restart',
    ['routes, backends and checks outlive a restart'],
    (lb, world) => {
      world.backends.clear();
      return lb;
    },
  ],
  [
    'hands out its own list',
    ['routes, backends and checks outlive a restart', 'what a caller does to a result changes nothing for others'],
    (lb) => {
      let kept: string[] = [];
      return {
        ...lb,
        backends: async () => ({ ids: kept }),
        registerBackends: async (params, ctx) => {
          const answer = await lb.registerBackends(params, ctx);
          kept = (await lb.backends({}, ctx)).ids;
          return answer;
        },
        deregisterBackends: async (params, ctx) => {
          const answer = await lb.deregisterBackends(params, ctx);
          kept = (await lb.backends({}, ctx)).ids;
          return answer;
        },
      };
    },
  ],
  [
    'looks at no signal',
    ['a call whose caller has given up is refused', 'a call ends when its caller gives up, though the world hangs'],
    (lb) => ({ ...lb, routes: (params, ctx) => lb.routes(params, { ...ctx, signal: new AbortController().signal }) }),
  ],
];

describe('the load balancer contract', () => {
  test('the memory load balancer passes every case', async () => {
    expect(await run(subject())).toEqual([]);
  });

  test('EI-L2: two load balancers on one table fail', async () => {
    const make = async () => {
      const alone = await subject()();
      return { ...alone, neighbour: alone.loadBalancer };
    };
    expect(await run(make)).toContain('load balancers share nothing');
  });

  test.each(broken)('a load balancer that %s fails', async (_, notice, wrap) => {
    expect(await run(subject(wrap))).toEqual(notice);
  });
});
