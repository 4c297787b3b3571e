import { execFileSync } from 'node:child_process';
import { nfsExportsDefinition } from '@infrakit/plugin-nfs-exports';
import { direct, type Instance, instanceInterface, type PluginDeps, realAfter, testingContext } from '@infrakit/spi';
import type { ExportNamespace } from './export-namespace.ts';

export const ctx = testingContext();
let ids = 0;

/** The exports plugin on an export table of its own, in this process; warnings are added to `warnings`. */
export const startExports = async ({ dir, command }: ExportNamespace, warnings: unknown[] = []): Promise<Instance> => {
  const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (facts: unknown) => warnings.push(facts) };
  const newId = (): string => {
    ids += 1;
    return `e${String(ids).padStart(6, '0')}`;
  };
  const options = nfsExportsDefinition.options.parse({ Dir: dir, Command: [...command] });
  const deps = { name: 'nfs', options, newId, log } as unknown as PluginDeps<typeof options>;
  const [object] = (await nfsExportsDefinition.start(deps)).objects();
  return direct(instanceInterface, object?.implementation as unknown as Instance, { after: realAfter });
};

/** What an export is asked to be made by. */
export const spec = (Properties: unknown) => ({
  Properties,
  Tags: { team: 'a' },
  Init: '',
  LogicalID: null,
  Attachments: null,
});

/** The lines of `exportfs -s`. */
export const table = ({ command }: ExportNamespace): string[] => {
  const [program = '', ...args] = command;
  return execFileSync(program, [...args, '-s'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');
};
