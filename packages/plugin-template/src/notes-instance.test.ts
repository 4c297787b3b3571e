import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { direct, type InstanceSubject, instanceContract, instanceInterface, realAfter } from '@infrakit/spi';
import { contractTests } from '../../../test/contract.ts';
import { notesInstance } from './notes-instance.ts';

contractTests(instanceContract, async (): Promise<InstanceSubject & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'notes-'));
  const open = () => direct(instanceInterface, notesInstance({ folder, newId: randomUUID }), { after: realAfter });
  let instance = open();
  return {
    get instance() {
      return instance;
    },
    properties: (n) => ({ Text: `note ${n}` }),
    describedProperties: (n) => ({ Text: `note ${n}` }),
    invalidProperties: { Text: 7, Colour: 'red' },
    keepsLogicalId: true,
    isRelabelRefused: false,
    hasIdempotencyKeys: true,
    takesTerms: true,
    isEventuallyConsistent: false,
    longList: 100,
    world: { removeBehind: (id) => rm(join(folder, `${id}.json`)) },
    restart: async () => {
      instance = open();
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
});
