import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireProgram } from '../programs.mjs';

/** A container engine of its own: images, containers and networks of other runs are not seen. */
export interface Podman extends AsyncDisposable {
  readonly host: string;
  /** The image that is there: busybox, with `httpd`. */
  readonly image: string;
  /** Runs podman on the same storage. */
  readonly run: (...args: readonly string[]) => string;
  readonly start: () => Promise<void>;
  /**
   * Leaves a name taken by storage that no list shows, as a service does that is killed between the storage of a container and its
   * record: the record is put back to what it was before.
   */
  readonly leaveHalfMade: (name: string) => Promise<void>;
  /** Ends the service, `SIGKILL` or in order; containers go on. */
  readonly stop: (signal?: 'SIGKILL' | 'SIGTERM') => Promise<void>;
}

const config = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;

/** A command that takes longer hangs: it fails, lest the whole run stands still. */
const commandMs = 60_000;

const ping = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const call = request({ socketPath, path: '/_ping' }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    call.on('error', () => resolve(false));
    call.end();
  });

const makeImage = async (folder: string, run: Podman['run']): Promise<string> => {
  const root = join(folder, 'rootfs');
  for (const part of ['bin', 'etc', 'tmp', 'www', 'proc', 'sys', 'dev'])
    await mkdir(join(root, part), { recursive: true });
  const busybox = requireProgram('busybox');
  await copyFile(busybox, join(root, 'bin', 'busybox'));
  for (const applet of ['sh', 'httpd', 'sleep', 'cat', 'echo', 'true'])
    await symlink('busybox', join(root, 'bin', applet));
  await writeFile(join(root, 'www', 'index.html'), 'hello\n');
  const tar = join(folder, 'rootfs.tar');
  execFileSync('tar', ['-C', root, '-cf', tar, '.']);
  run('import', tar, 'localhost/bb:1');
  return 'localhost/bb:1';
};

/**
 * Ends what a killed service left in the middle of making a container: a `conmon` that no podman knows of, and what it waits
 * for. Its command line names the folder.
 */
const endLeftMonitors = async (folder: string): Promise<void> => {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [command = '', children = ''] = await Promise.all(
      ['cmdline', `task/${pid}/children`].map((file) => readFile(join('/proc', pid, file), 'utf8').catch(() => '')),
    );
    if (!/^\S*conmon\0/.test(command) || !command.includes(`${folder}/`)) continue;
    for (const each of [pid, ...children.split(' ').filter(Boolean)]) {
      try {
        process.kill(Number(each), 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }
};

/** Starts podman's service with storage in a temporary folder. */
export const startPodman = async (): Promise<Podman> => {
  const podman = requireProgram('podman');
  for (const needed of ['runc', 'netavark', 'aardvark-dns', 'iptables']) requireProgram(needed);
  const folder = await mkdtemp(join(tmpdir(), 'pod-'));
  const socket = join(folder, 'podman.sock');
  await writeFile(join(folder, 'containers.conf'), config);
  const options = [
    ...['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'tmp')],
    ...['--network-config-dir', join(folder, 'net'), '--storage-driver', 'vfs'],
    ...['--cgroup-manager', 'cgroupfs', '--runtime', 'runc'],
  ];
  const env = { ...process.env, CONTAINERS_CONF: join(folder, 'containers.conf') };
  const run: Podman['run'] = (...args) =>
    execFileSync(podman, [...options, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: commandMs,
      killSignal: 'SIGKILL',
    });
  let child: ReturnType<typeof spawn> | undefined;

  const start = async (): Promise<void> => {
    const service = spawn(podman, [...options, 'system', 'service', '--time', '0', `unix://${socket}`], {
      env,
      stdio: 'ignore',
    });
    child = service;
    const endMs = Date.now() + 10_000;
    while (!(await ping(socket))) {
      if (Date.now() > endMs || service.exitCode !== null)
        throw new Error('podman did not answer: run `npm run setup`');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const stop: Podman['stop'] = async (signal = 'SIGTERM') => {
    const service = child;
    child = undefined;
    if (service === undefined || service.exitCode !== null) return;
    const ended = once(service, 'exit');
    service.kill(signal);
    await ended;
    await rm(socket, { force: true });
  };

  const leaveHalfMade: Podman['leaveHalfMade'] = async (name) => {
    const [records, before] = [join(folder, 'root', 'libpod', 'bolt_state.db'), join(folder, 'before.db')];
    await stop();
    await copyFile(records, before);
    run('create', '--name', name, '--network', 'none', 'localhost/bb:1', '/bin/sleep', '600');
    await copyFile(before, records);
    await start();
  };

  await start();
  const image = await makeImage(folder, run);
  return {
    host: `unix://${socket}`,
    image,
    run,
    leaveHalfMade,
    start,
    stop,
    [Symbol.asyncDispose]: async () => {
      try {
        run('rm', '--all', '--force', '--time', '0');
      } finally {
        await stop();
        await endLeftMonitors(folder);
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
};
