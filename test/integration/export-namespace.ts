import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../programs.mjs';

/** An export table of its own: in a mount namespace, so that nothing reaches the one of the machine. */
export interface ExportNamespace extends AsyncDisposable {
  /** Where the exports files are, inside and outside. */
  readonly dir: string;
  /** A folder with folders to export. */
  readonly volumes: string;
  /** How `exportfs` is run in there. */
  readonly command: readonly string[];
}

const script = (root: string): string => `
  mkdir -p /etc/exports.d
  mount --bind ${root}/exports.d /etc/exports.d
  mount --bind ${root}/exports /etc/exports
  mount --bind ${root}/nfs /var/lib/nfs
  mount --bind ${root}/hosts /etc/hosts
  echo ready
  exec sleep 900
`;

const untilReady = async (child: ChildProcess): Promise<void> => {
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const ready = new Promise<void>((resolve) => {
    child.stdout?.once('data', () => resolve());
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`no mount namespace for exports (root is needed): ${errors}`);
  });
  await Promise.race([ready, ended]);
};

/** Opens a namespace with an empty table; a line of `hosts` is known to its resolver. */
export const exportNamespace = async (hosts = ''): Promise<ExportNamespace> => {
  const exportfs = requireProgram('exportfs');
  const root = await mkdtemp(join(tmpdir(), 'exports-'));
  for (const folder of ['exports.d', 'nfs', 'volumes/a', 'volumes/b c'])
    await mkdir(join(root, folder), { recursive: true });
  for (const file of ['exports', 'nfs/etab', 'nfs/rmtab']) await writeFile(join(root, file), '');
  await writeFile(join(root, 'hosts'), `${await readFile('/etc/hosts', 'utf8')}\n${hosts}\n`);
  const child = spawn('unshare', ['-m', 'bash', '-c', script(root)], { stdio: ['ignore', 'pipe', 'pipe'] });
  await untilReady(child);
  return {
    dir: join(root, 'exports.d'),
    volumes: join(root, 'volumes'),
    command: ['nsenter', '-t', String(child.pid), '-m', exportfs],
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(root, { recursive: true, force: true });
    },
  };
};
