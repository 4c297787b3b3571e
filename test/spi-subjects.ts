import type { HealthCheck, Route } from '@infrakit/core';
import {
  controllerContract,
  controllerInterface,
  eventContract,
  eventInterface,
  flavorContract,
  flavorInterface,
  groupContract,
  groupInterface,
  type InterfaceDescription,
  instanceContract,
  instanceInterface,
  journalContract,
  journalInterface,
  type Leadership,
  leadershipContract,
  leadershipInterface,
  loadBalancerContract,
  loadBalancerInterface,
  memoryControllerSubject,
  memoryDisk,
  memoryElection,
  memoryEventSource,
  memoryFlavor,
  memoryGroupSubject,
  memoryInstanceSubject,
  memoryJournal,
  memoryLoadBalancer,
  memoryLoadBalancerWorld,
  memoryMetadata,
  memoryMetadataWorld,
  memoryStorage,
  memoryStore,
  metadataContract,
  metadataInterface,
  type SpiOf,
  type Store,
  storeContract,
  storeInterface,
  updatableContract,
  updatableInterface,
} from '@infrakit/spi';
import { disposable } from './broken.ts';
import { contractTests } from './contract.ts';

/** What stands between the suites and the implementations in memory. */
export type Through = <I extends InterfaceDescription>(description: I, implementation: SpiOf<I>) => SpiOf<I>;

const stalling = (world: { readonly stall: () => () => void }) => async () => {
  const goOn = world.stall();
  return async (): Promise<void> => goOn();
};

const route = (n: number): Route => ({
  Port: 8_000 + n,
  Protocol: 'TCP',
  LoadBalancerPort: 20_000 - n * 3_000,
  LoadBalancerProtocol: 'TCP',
  Certificate: null,
  HealthMonitorPath: `/health/${n}`,
});

const healthCheck = (n: number, variant: number): HealthCheck => ({
  BackendPort: 8_000 + n,
  Healthy: variant,
  Unhealthy: variant + 1,
  Interval: 10_000_000_000,
  Timeout: 5_000_000_000,
});

/** `watch` is no call: it stays with whoever holds the store or the election. */
const storeThrough = (through: Through, store: Store): Store => ({
  ...through(storeInterface, store),
  watch: store.watch,
});

const leadershipThrough = (through: Through, leadership: Leadership): Leadership => ({
  ...through(leadershipInterface, leadership),
  watch: leadership.watch,
});

/** The contract suite of every SPI as tests, each call to an implementation in memory going `through` something. */
export const spiContractTests = (through: Through): void => {
  contractTests(instanceContract, () =>
    memoryInstanceSubject({ wrap: (instance) => through(instanceInterface, instance) }),
  );

  contractTests(flavorContract, async () => {
    const { flavor, world } = memoryFlavor();
    return disposable({
      flavor: through(flavorInterface, flavor),
      properties: { Tags: { colour: 'red' }, Init: ['echo more'], Attachments: [{ ID: 'v2', Type: 'volume' }] },
      allocation: { Size: 5 },
      invalid: { properties: { Init: 'no list', Tags: 7 }, words: ['Init', 'Tags'] },
      member: (n: number) => ({ ID: `i-${n}`, LogicalID: null, Tags: {} }),
      isAdditive: true,
      isRepeatable: true,
      isEventuallyConsistent: false,
      world: {
        snapshot: async () => world.drained(),
        setHealth: async (id: string, health: Parameters<typeof world.setHealth>[1]) => world.setHealth(id, health),
        isDrained: async (id: string) => world.drained().includes(id),
        stall: stalling(world),
      },
    });
  });

  contractTests(controllerContract, async () =>
    memoryControllerSubject((controller) => through(controllerInterface, controller)),
  );

  contractTests(groupContract, async () => memoryGroupSubject((group) => through(groupInterface, group)));

  contractTests(loadBalancerContract, async () => {
    const world = memoryLoadBalancerWorld();
    const start = (name: string) =>
      through(loadBalancerInterface, memoryLoadBalancer(name === 'lb7' ? { name, world } : { name }).loadBalancer);
    let loadBalancer = start('lb7');
    return {
      get loadBalancer() {
        return loadBalancer;
      },
      name: 'lb7',
      route,
      otherRoute: (n) => ({ ...route(n), Port: 9_000 + n }),
      backend: (n) => `backend-${9 - n}`,
      healthCheck,
      isEventuallyConsistent: false,
      neighbour: start('lb8'),
      world: { stall: stalling(world) },
      restart: async () => {
        loadBalancer = start('lb7');
      },
      [Symbol.asyncDispose]: async () => {},
    };
  });

  contractTests(eventContract, async () => {
    const { source, world } = memoryEventSource([
      'compute/instance/create',
      'compute/instance/delete',
      'compute/alarm',
    ]);
    return disposable({
      source: through(eventInterface, source),
      branches: { '': ['compute'], compute: ['instance', 'alarm'], 'compute/instance': ['create', 'delete'] },
      leaf: 'compute/alarm',
      isEventuallyConsistent: false,
      world: { addTopic: async (topic: string) => world.addTopic(topic), stall: stalling(world) },
    });
  });

  const document = { cluster: { name: 'blue', zero: 0 }, scratch: {} };
  const known = [
    { path: 'cluster/name', value: 'blue', keys: [] },
    { path: 'cluster/zero', value: 0, keys: [] },
  ];
  const change = (world: { readonly set: (value: unknown) => void }) => async () => {
    world.set({ cluster: { name: 'green', zero: 0 }, scratch: {} });
    return 'green';
  };

  contractTests(metadataContract, async () => {
    const { metadata, world } = memoryMetadata(memoryMetadataWorld(document));
    return disposable({
      metadata: through(metadataInterface, metadata),
      known,
      isEventuallyConsistent: false,
      world: { change: change(world), stall: stalling(world) },
    });
  });

  contractTests(updatableContract, async () => {
    const world = memoryMetadataWorld(document);
    const start = () => through(updatableInterface, memoryMetadata(world).metadata);
    let metadata = start();
    return {
      get metadata() {
        return metadata;
      },
      known,
      scratch: 'scratch',
      isEventuallyConsistent: false,
      world: { change: change(world), stall: stalling(world) },
      restart: async () => {
        metadata = start();
      },
      [Symbol.asyncDispose]: async () => {},
    };
  });

  contractTests(storeContract, async () => {
    const disk = memoryDisk();
    const start = () => storeThrough(through, memoryStore(disk));
    return disposable({
      store: start(),
      other: start(),
      restart: async () => start(),
      terms: async () => ({ older: 3, newer: 4 }),
    });
  });

  contractTests(journalContract, async () => {
    const storage = memoryStorage();
    const start = (scope: string) => through(journalInterface, memoryJournal(storage, scope));
    return disposable({ journal: start('a'), neighbour: start('a/'), restart: async () => start('a') });
  });

  contractTests(leadershipContract, async () => {
    const { join, loseLease } = memoryElection();
    return disposable({
      first: leadershipThrough(through, join()),
      second: leadershipThrough(through, join()),
      loseLease: async () => loseLease(),
    });
  });
};
