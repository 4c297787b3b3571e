import { type Connection, type RpcClient, rpcClient, rpcProxy, serveRpc } from '@infrakit/bus';
import { topicsUnder } from '@infrakit/core';
import { type PluginObject, realAfter } from '@infrakit/spi';
import { afterAll, beforeAll } from 'vitest';
import { spiContractTests, type Through } from './spi-subjects.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const clock = { nowMs: Date.now, after: realAfter };
const topics = topicsUnder('contracts');
const plugin = 'contract';
const incarnation = 'n1.1';

/** A broker for one file of tests. */
export interface ContractBroker extends AsyncDisposable {
  readonly connect: (clientId: string) => Promise<Connection>;
}

/**
 * The contract suite of every SPI, each implementation behind a server and its caller behind a client, on a connection
 * of its own each. Every implementation is an object of one plugin, with a name that no topic can carry as it is.
 */
export const rpcContractTests = (start: () => Promise<ContractBroker>): void => {
  let objects: readonly PluginObject[] = [];
  let client: RpcClient | undefined;
  let release = async (): Promise<void> => {};
  let ids = 0;

  beforeAll(async () => {
    const broker = await start();
    const server = serveRpc({
      connection: await broker.connect('server'),
      topics,
      plugin,
      incarnation,
      host: 'here',
      objects: () => objects,
      isAnswering: () => true,
      clock,
      log,
    });
    await server.ready();
    const newId = (): string => {
      ids += 1;
      return `call-${ids}`;
    };
    const own = rpcClient({ connection: await broker.connect('client'), topics, host: 'here', newId, clock, log });
    client = own;
    release = async () => {
      own.close();
      server.close();
      await broker[Symbol.asyncDispose]();
    };
  });
  afterAll(() => release());

  const through: Through = (description, implementation) => {
    if (client === undefined) throw new Error('the broker is not started');
    const object = `${objects.length}/+# 🐄`;
    objects = [...objects, { object, description, implementation } as unknown as PluginObject];
    const target = { plugin, object, incarnation };
    return rpcProxy(client, description, () => ({ kind: 'remote', target }));
  };
  spiContractTests(through);
};
