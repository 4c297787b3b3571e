import { realAfter } from '@infrakit/spi';
import { describe } from 'vitest';
import { rpcContractTests } from '../../../../test/rpc-contracts.ts';
import { memoryBroker } from '../connection/memory-broker.ts';

const quiet = (): void => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe('through the RPC proxy, on the broker in memory', () => {
  rpcContractTests(async () => {
    const broker = memoryBroker({ after: realAfter, log });
    return {
      connect: async (clientId) => broker.connect({ clientId }),
      [Symbol.asyncDispose]: async () => broker.stop(),
    };
  });
});
