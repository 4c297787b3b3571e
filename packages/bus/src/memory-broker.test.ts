import { realAfter } from '@infrakit/spi';
import { contractTests } from '../../../test/contract.ts';
import { connectionContract } from './connection-contract.ts';
import { memoryBroker } from './memory-broker.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

contractTests(connectionContract, async () => {
  const broker = memoryBroker({ after: realAfter, log: silent });
  return {
    connect: async (options) => broker.connect(options),
    connectMute: async (options) => {
      const mute = broker.connect(options);
      realAfter(500, mute.sever);
    },
    stop: async () => broker.stop(),
    start: async () => broker.start({ keepRetained: false }),
    freeze: broker.freeze,
    thaw: broker.thaw,
    [Symbol.asyncDispose]: async () => broker.stop(),
  };
});
