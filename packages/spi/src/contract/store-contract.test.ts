import { brokenTests, disposable } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { memoryDisk, memoryStore } from '../reference/memory-store.ts';
import { brokenStores } from './store.broken.ts';
import { storeContract } from './store-contract.ts';

contractTests(storeContract, async () => {
  const disk = memoryDisk();
  return disposable({
    store: memoryStore(disk),
    other: memoryStore(disk),
    restart: async () => memoryStore(disk),
    terms: async () => ({ older: 3, newer: 4 }),
  });
});

brokenTests(storeContract, brokenStores);
