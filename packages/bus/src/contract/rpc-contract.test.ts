import { realAfter } from '@infrakit/spi';
import { contractTests } from '../../../../test/contract.ts';
import { memoryBroker } from '../connection/memory-broker.ts';
import { rpcContract } from './rpc-contract.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

contractTests(rpcContract, async () => {
  const broker = memoryBroker({ after: realAfter, log });
  const clientIds: string[] = [];
  return {
    connect: async (clientId) => {
      clientIds.push(clientId);
      return broker.connect({ clientId });
    },
    cut: async () => clientIds.forEach(broker.sever),
    freeze: async () => {
      broker.freeze();
      return broker.thaw;
    },
    [Symbol.asyncDispose]: async () => {},
  };
});
