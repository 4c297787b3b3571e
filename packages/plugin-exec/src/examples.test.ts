import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  direct,
  type InstanceSubject,
  instanceContract,
  instanceInterface,
  memoryJournal,
  memoryStorage,
  realAfter,
} from '@infrakit/spi';
import { describe } from 'vitest';
import { contractTests } from '../../../test/contract.ts';
import { openExecInstance } from './exec-instance.ts';
import { ExecOptions } from './exec-options.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const example = (name: string): string => fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
/** The interpreter itself: version switchers before it cost more than a run. */
const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find(existsSync) ?? 'python3';

/** The files of both examples are named after the id; one line of them is JSON. */
const fileOf = async (folder: string, id: string): Promise<string> => {
  const name = (await readdir(folder)).find((each) => each === id || each === `${id}.json`);
  return join(folder, name ?? id);
};

const subject =
  (
    options: { Command: string; Args?: string[] },
    special: Partial<InstanceSubject>,
    makeForeign: (id: string, tags: object) => [string, object],
  ) =>
  async (): Promise<InstanceSubject & AsyncDisposable> => {
    const folder = await mkdtemp(join(tmpdir(), 'exec-'));
    const storage = memoryStorage();
    const open = () =>
      openExecInstance(ExecOptions.parse({ ...options, Grace: '200ms' }), {
        after: realAfter,
        log,
        stateDir: folder,
        variable: (name) => process.env[name],
        journal: memoryJournal(storage),
      });
    let opened = await open();
    return {
      get instance() {
        return direct(instanceInterface, opened.instance, { after: realAfter });
      },
      properties: (n) => ({ size: n }),
      describedProperties: (n) => ({ size: n }),
      keepsLogicalId: true,
      isRelabelRefused: false,
      hasIdempotencyKeys: true,
      takesTerms: true,
      isEventuallyConsistent: false,
      longList: 12,
      world: {
        addForeign: async (tags) => {
          const [name, content] = makeForeign('foreign7', tags);
          await writeFile(join(folder, name), `${JSON.stringify(content)}\n`);
          return 'foreign7';
        },
        changeBehind: async (id) => {
          const file = await fileOf(folder, id);
          await writeFile(
            file,
            (await readFile(file, 'utf8'))
              .replace('"LogicalID":null', '"LogicalID":"changed"')
              .replace('"LogicalID": null', '"LogicalID": "changed"'),
          );
        },
        removeBehind: async (id) => rm(await fileOf(folder, id)),
      },
      restart: async () => {
        await opened.close(1_000);
        opened = await open();
      },
      ...special,
      [Symbol.asyncDispose]: async () => {
        await opened.close(1_000);
        await rm(folder, { recursive: true });
      },
    };
  };

describe('the example in Python', () =>
  contractTests(
    instanceContract,
    subject(
      { Command: python, Args: [example('folder.py')] },
      { invalidProperties: { size: -1, shape: 'round' } },
      (ID, Tags) => [`${ID}.json`, { ID, key: null, LogicalID: null, Tags, Properties: {} }],
    ),
  ));

describe('the example in POSIX sh', () =>
  contractTests(
    instanceContract,
    subject({ Command: example('folder.sh') }, {}, (id, Tags) => [
      id,
      { verb: 'provision', params: { spec: { Properties: {}, Tags, Init: '', LogicalID: null, Attachments: null } } },
    ]),
  ));
