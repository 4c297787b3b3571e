import type { HealthCheck, Route } from '@infrakit/core';
import type { LoadBalancer } from '../loadbalancer.ts';
import {
  type ContractCase,
  type ContractContext,
  type ContractSuite,
  demandEqual,
  demandRejects,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { deadlineCases, type StallingWorld } from './deadline-cases.ts';

/** One load balancer, and what the suite needs to know of it. Routes and backends that it has already do no harm. */
export interface LoadBalancerSubject {
  readonly loadBalancer: LoadBalancer;
  readonly name: string;
  /** Valid routes, on a frontend port of its own for each number, not in the order of the numbers. */
  readonly route: (n: number) => Route;
  /** Another route on the frontend port of `route(n)`. */
  readonly otherRoute: (n: number) => Route;
  readonly backend: (n: number) => string;
  /** Health checks of a backend port of its own for each first number, other ones for each second. */
  readonly healthCheck: (n: number, variant: number) => HealthCheck;
  readonly isEventuallyConsistent: boolean;
  /** Another load balancer of the same plugin. */
  readonly neighbour?: LoadBalancer;
  readonly world?: StallingWorld;
  /** Ends the plugin without a word and starts it anew; `loadBalancer` is then a handle on the new one. */
  readonly restart?: () => Promise<void>;
}

const numbers = [1, 2, 3, 4, 5];

const clean = async (subject: LoadBalancerSubject, ctx: ContractContext): Promise<void> => {
  for (const n of numbers) {
    await subject.loadBalancer.unpublish({ port: subject.route(n).LoadBalancerPort }, ctx).catch(() => undefined);
  }
  await subject.loadBalancer.deregisterBackends({ ids: numbers.map(subject.backend) }, ctx).catch(() => undefined);
};

/** The routes of the suite, as they are listed. */
const routesOf = async (
  subject: LoadBalancerSubject,
  ctx: ContractContext,
  loadBalancer = subject.loadBalancer,
): Promise<Route[]> => {
  const ports = numbers.map((n) => subject.route(n).LoadBalancerPort);
  const { routes } = await loadBalancer.routes({}, ctx);
  return routes.filter((route) => ports.includes(route.LoadBalancerPort));
};

const backendsOf = async (
  subject: LoadBalancerSubject,
  ctx: ContractContext,
  loadBalancer = subject.loadBalancer,
): Promise<string[]> => {
  const own = numbers.map(subject.backend);
  return (await loadBalancer.backends({}, ctx)).ids.filter((id) => own.includes(id));
};

const checkOf = async (
  { loadBalancer }: LoadBalancerSubject,
  ctx: ContractContext,
  port: number,
): Promise<HealthCheck[]> =>
  (await loadBalancer.healthChecks({}, ctx)).checks.filter(({ BackendPort }) => BackendPort === port);

const byPort = (left: Route, right: Route): number => left.LoadBalancerPort - right.LoadBalancerPort;

/** Demands exactly these of the suite's routes, sorted by frontend port. */
const demandRoutes = (
  subject: LoadBalancerSubject,
  ctx: ContractContext,
  routes: readonly Route[],
  when: string,
): Promise<void> =>
  eventually(ctx, subject.isEventuallyConsistent, async () =>
    demandEqual(await routesOf(subject, ctx), routes.toSorted(byPort), `the routes by port, ${when},`),
  );

const demandBackends = (
  subject: LoadBalancerSubject,
  ctx: ContractContext,
  ns: readonly number[],
  when: string,
): Promise<void> =>
  eventually(ctx, subject.isEventuallyConsistent, async () =>
    demandEqual(await backendsOf(subject, ctx), ns.map(subject.backend).toSorted(), `the backends by id, ${when},`),
  );

type Act = (subject: LoadBalancerSubject, ctx: ContractContext) => Promise<void>;

/** A case that leaves the load balancer as it found it. */
const lbCase = (name: string, cites: string, act: Act): ContractCase<LoadBalancerSubject> => ({
  name,
  cites,
  run: async (subject, ctx) => {
    try {
      await act(subject, ctx);
    } finally {
      await clean(subject, ctx);
    }
  },
});

const publish = async (
  { loadBalancer, route }: LoadBalancerSubject,
  ctx: ContractContext,
  ns: readonly number[],
): Promise<void> => {
  for (const n of ns) await loadBalancer.publish({ route: route(n) }, ctx);
};

const register = (
  { loadBalancer, backend }: LoadBalancerSubject,
  ctx: ContractContext,
  ns: readonly number[],
): Promise<unknown> => loadBalancer.registerBackends({ ids: ns.map(backend) }, ctx);

const deregister = (
  { loadBalancer, backend }: LoadBalancerSubject,
  ctx: ContractContext,
  ns: readonly number[],
): Promise<unknown> => loadBalancer.deregisterBackends({ ids: ns.map(backend) }, ctx);

const routeCases: readonly ContractCase<LoadBalancerSubject>[] = [
  lbCase('it says its name', 'EI §4.1', async ({ loadBalancer, name }, ctx) => {
    demandEqual((await loadBalancer.name({}, ctx)).name, name, 'the name of the load balancer');
  }),
  lbCase('published routes are listed whole, by port', 'EI §4.3', async (subject, ctx) => {
    await publish(subject, ctx, numbers);
    await demandRoutes(subject, ctx, numbers.map(subject.route), 'after five publishes');
  }),
  lbCase('a used port is refused, and its route stays', 'EI §4.4', async (subject, ctx) => {
    await publish(subject, ctx, [1]);
    await demandRejects(
      subject.loadBalancer.publish({ route: subject.otherRoute(1) }, ctx),
      ['ROUTE_CONFLICT'],
      'a publish of another route on a used port',
    );
    await demandRoutes(subject, ctx, [subject.route(1)], 'after a refused publish');
  }),
  lbCase('the same route published twice is there once', 'DESIGN §3', async (subject, ctx) => {
    await publish(subject, ctx, [1]);
    await publish(subject, ctx, [1]).catch(() => undefined);
    await demandRoutes(subject, ctx, [subject.route(1)], 'after the same publish twice');
  }),
  lbCase('of two publishes at once on one port one wins', 'GP-P11', async (subject, ctx) => {
    const { loadBalancer } = subject;
    const tries = [subject.route(1), subject.otherRoute(1)].map((route) => loadBalancer.publish({ route }, ctx));
    const won = (await Promise.allSettled(tries)).filter(({ status }) => status === 'fulfilled').length;
    demandEqual(won, 1, 'how many of two publishes at once on one port succeed');
  }),
  lbCase('publishes at once on many ports all stay', 'GP-P11', async (subject, ctx) => {
    await Promise.all(numbers.map((n) => publish(subject, ctx, [n])));
    await demandRoutes(subject, ctx, numbers.map(subject.route), 'after five publishes at once');
  }),
  lbCase('unpublish removes the route of the port and no other', 'EI §4.1', async (subject, ctx) => {
    await publish(subject, ctx, [1, 2, 3]);
    await subject.loadBalancer.unpublish({ port: subject.route(2).LoadBalancerPort }, ctx);
    await demandRoutes(subject, ctx, [subject.route(1), subject.route(3)], 'after one unpublish of three');
    await publish(subject, ctx, [2]);
    await demandRoutes(subject, ctx, [1, 2, 3].map(subject.route), 'after the port was published again');
  }),
  lbCase('unpublish of an unknown port is refused', 'EI §4.4', async (subject, ctx) => {
    const port = subject.route(1).LoadBalancerPort;
    await demandRejects(subject.loadBalancer.unpublish({ port }, ctx), ['ROUTE_NOT_FOUND'], 'an unpublish of no route');
  }),
  lbCase('an invalid route is refused', 'GP-P14', async (subject, ctx) => {
    const route: Route = { ...subject.route(1), LoadBalancerProtocol: 'HTTPS', Certificate: null };
    await demandRejects(
      subject.loadBalancer.publish({ route }, ctx),
      ['ROUTE_INVALID', 'PARAMS_INVALID'],
      'a publish of HTTPS without a certificate',
    );
    await demandRoutes(subject, ctx, [], 'after a publish of an invalid route');
  }),
];

const backendCases: readonly ContractCase<LoadBalancerSubject>[] = [
  lbCase('registered backends are listed by id', 'EI §4.3', async (subject, ctx) => {
    await register(subject, ctx, [3, 1]);
    await register(subject, ctx, [2]);
    await demandBackends(subject, ctx, [1, 2, 3], 'after registering them in two calls');
  }),
  lbCase('a backend that is in already is no error, and in once', 'EI §4.1', async (subject, ctx) => {
    await register(subject, ctx, [1]);
    await register(subject, ctx, [1, 2]);
    await demandBackends(subject, ctx, [1, 2], 'after registering one of them twice');
  }),
  lbCase('deregister removes these backends and no others', 'EI §4.1', async (subject, ctx) => {
    await register(subject, ctx, [1, 2, 3, 4]);
    await deregister(subject, ctx, [2, 4]);
    await demandBackends(subject, ctx, [1, 3], 'after deregistering two of four');
  }),
  lbCase('a backend that is out already is no error', 'EI §4.4', async (subject, ctx) => {
    await register(subject, ctx, [1, 2]);
    await deregister(subject, ctx, [5, 1]);
    await demandBackends(subject, ctx, [2], 'after deregistering one that was in and one that was not');
  }),
  lbCase('an empty list of backends changes nothing', 'EI §4.1', async (subject, ctx) => {
    await register(subject, ctx, [1]);
    await register(subject, ctx, []);
    await deregister(subject, ctx, []);
    await demandBackends(subject, ctx, [1], 'after registering and deregistering nobody');
  }),
  lbCase('registrations at once all stay', 'GP-P11', async (subject, ctx) => {
    await Promise.all(numbers.map((n) => register(subject, ctx, [n])));
    await demandBackends(subject, ctx, numbers, 'after five registrations at once');
  }),
];

const healthCheckCases: readonly ContractCase<LoadBalancerSubject>[] = [
  lbCase('a health check is listed, and replaced by the next for its port', 'EI §3.5', async (subject, ctx) => {
    for (const variant of [1, 2]) {
      const check = subject.healthCheck(1, variant);
      await subject.loadBalancer.configureHealthCheck({ check }, ctx);
      await eventually(ctx, subject.isEventuallyConsistent, async () =>
        demandEqual(await checkOf(subject, ctx, check.BackendPort), [check], 'the health checks of a backend port'),
      );
    }
  }),
  lbCase('health checks of other ports stay', 'EI §3.5', async (subject, ctx) => {
    const [first, second] = [subject.healthCheck(1, 1), subject.healthCheck(2, 1)];
    for (const check of [first, second]) await subject.loadBalancer.configureHealthCheck({ check }, ctx);
    await eventually(ctx, subject.isEventuallyConsistent, async () =>
      demandEqual(
        await checkOf(subject, ctx, first.BackendPort),
        [first],
        'the health checks of the first of two ports',
      ),
    );
  }),
  lbCase('a health check is no route', 'EI-L1', async (subject, ctx) => {
    const route = subject.route(1);
    await subject.loadBalancer.publish({ route }, ctx);
    const ports = async () => (await subject.loadBalancer.routes({}, ctx)).routes.map((each) => each.LoadBalancerPort);
    const before = await ports();
    for (const BackendPort of [route.LoadBalancerPort, subject.route(2).LoadBalancerPort]) {
      await subject.loadBalancer.configureHealthCheck({ check: { ...subject.healthCheck(1, 1), BackendPort } }, ctx);
    }
    demandEqual(await ports(), before, 'the frontend ports after health checks of the same numbers');
    await demandRoutes(subject, ctx, [route], 'after health checks of the same numbers');
    await subject.loadBalancer.publish({ route: subject.route(2) }, ctx);
  }),
];

const wholeCases: readonly ContractCase<LoadBalancerSubject>[] = [
  lbCase('load balancers share nothing', 'EI-L2', async (subject, ctx) => {
    const { neighbour } = subject;
    skipUnless(neighbour, 'the subject has one load balancer only');
    await publish(subject, ctx, [1]);
    await register(subject, ctx, [1]);
    demandEqual(await routesOf(subject, ctx, neighbour), [], 'the routes of another load balancer');
    demandEqual(await backendsOf(subject, ctx, neighbour), [], 'the backends of another load balancer');
  }),
  lbCase('routes, backends and checks outlive a restart', 'Law 11', async (subject, ctx) => {
    skipUnless(subject.restart, 'the subject cannot be restarted');
    const check = subject.healthCheck(1, 1);
    await publish(subject, ctx, [1, 2]);
    await register(subject, ctx, [1, 2]);
    await subject.loadBalancer.configureHealthCheck({ check }, ctx);
    await subject.restart();
    await demandRoutes(subject, ctx, [1, 2].map(subject.route), 'after a restart');
    await demandBackends(subject, ctx, [1, 2], 'after a restart');
    demandEqual(await checkOf(subject, ctx, check.BackendPort), [check], 'the health checks after a restart');
  }),
  lbCase('what a caller does to a result changes nothing for others', 'EI-P5', async (subject, ctx) => {
    await publish(subject, ctx, [1]);
    await register(subject, ctx, [1]);
    const [{ routes }, { ids }] = [
      await subject.loadBalancer.routes({}, ctx),
      await subject.loadBalancer.backends({}, ctx),
    ];
    for (const tamper of [
      () =>
        Object.assign(
          routes.find(({ LoadBalancerPort }) => LoadBalancerPort === subject.route(1).LoadBalancerPort) ?? {},
          { Port: 1 },
        ),
      () => routes.splice(0),
      () => ids.splice(0),
    ]) {
      try {
        tamper();
      } catch {
        // A frozen result refuses; that is as good as a copy.
      }
    }
    await demandRoutes(subject, ctx, [subject.route(1)], 'after a caller changed the list it got');
    await demandBackends(subject, ctx, [1], 'after a caller changed the list it got');
  }),
];

/** What every load balancer owes (EI §4). */
export const loadBalancerContract: ContractSuite<LoadBalancerSubject> = {
  name: 'L4',
  cases: [
    ...routeCases,
    ...backendCases,
    ...healthCheckCases,
    ...wholeCases,
    ...deadlineCases(({ loadBalancer }: LoadBalancerSubject, ctx) => loadBalancer.routes({}, ctx)),
  ],
};
