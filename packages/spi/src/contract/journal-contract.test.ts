import { brokenTests, disposable } from '../../../../test/broken.ts';
import { contractTests } from '../../../../test/contract.ts';
import { memoryJournal, memoryStorage } from '../reference/memory-journal.ts';
import { brokenJournals } from './journal.broken.ts';
import { journalContract } from './journal-contract.ts';

contractTests(journalContract, async () => {
  const storage = memoryStorage();
  return disposable({
    journal: memoryJournal(storage, 'a'),
    neighbour: memoryJournal(storage, 'a/'),
    restart: async () => memoryJournal(storage, 'a'),
  });
});

brokenTests(journalContract, brokenJournals);
