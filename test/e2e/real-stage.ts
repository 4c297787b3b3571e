import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../demo/stage.ts';
import { type ExportNamespace, exportNamespace } from '../integration/export-namespace.ts';
import { startMosquitto } from '../integration/mosquitto.ts';
import { type Podman, startPodman } from '../integration/podman.ts';
import { requireProgram } from '../programs.mjs';

/** A container of the group, as the engine tells it. */
interface Running {
  readonly id: string;
  readonly address: string;
  /** A word of its configuration. */
  readonly note: string;
}

/** The main job on real parts: podman's engine, exportfs, mosquitto, one host; all of its own, all gone afterwards. */
export interface RealStage extends AsyncDisposable {
  readonly podman: Podman;
  readonly space: ExportNamespace;
  /** Starts the host and waits until it is ready. */
  readonly startHost: () => Promise<void>;
  /** Ends the host: SIGKILL, or in order. */
  readonly endHost: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** What the hosts said so far. */
  readonly hostSaid: () => string;
  /** Writes the spec of the group, `web.yml`, and of the rule, `rule.yml`, where {@link RealStage.infrakit} reads them. */
  readonly writeSpecs: (wanted: { readonly size: number; readonly note: string; readonly image?: string }) => void;
  readonly infrakit: (...args: readonly string[]) => string;
  /** The same without waiting; the answer says whether it ended well. */
  readonly begin: (...args: readonly string[]) => Promise<boolean>;
  readonly containers: () => readonly Running[];
  /** What `exportfs -s` says. */
  readonly exportsTable: () => string;
  /** Whom the volume is exported to, sorted; foreign ones aside. */
  readonly exported: () => readonly string[];
  /** What is wrong with `size` members, each exported to by its address and nobody else; null when nothing is. */
  readonly wrongWith: (size: number, note?: string) => string | null;
  /** What is there beyond `size` members: containers that do not run, files without export; null when nothing is. */
  readonly leftOver: (size: number) => string | null;
  /** How a plain client lists the members' topics. */
  readonly subscribe: readonly string[];
  readonly memberTopics: () => string;
  /** What is wrong with the foreign container and export, which were there before; null when nothing is. */
  readonly wrongWithForeign: () => string | null;
}

const foreignClient = '10.99.99.99';
const ownContainers = 'label=infrakit.tag.infrakit.group=web';
const plugins = ['manager:mystack', 'group', 'vanilla', 'docker', 'nfs-exports', 'enrollment:nfs'];
const readyMs = 20_000;
const commandMs = 30_000;

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

const groupSpec = (image: string, size: number, note: string): string => `
kind: group
metadata: { name: web }
properties:
  Allocation: { Size: ${size} }
  Instance:
    Plugin: docker/container
    Properties:
      Image: ${image}
      Command: [/bin/httpd, -f, -p, "8080", -h, /www]
      Env: { NOTE: ${note} }
      StopTimeout: 0s
  Flavor: { Plugin: vanilla }
`;

const ruleSpec = (volume: string): string => `
kind: enrollment
metadata: { name: web-volume }
properties:
  List: mystack/web
  Instance:
    Plugin: nfs-exports/export
    Properties:
      Path: ${volume}
      Client: \\{\\{ .Address \\}\\}
      Options: [rw, no_subtree_check]
`;

const containersOf = ({ run }: Podman): Running[] => {
  const ids = lines(run('ps', '--quiet', '--no-trunc', '--filter', ownContainers));
  if (ids.length === 0) return [];
  const format = '{{.Id}} {{.NetworkSettings.IPAddress}} {{range .Config.Env}}{{.}},{{end}}';
  try {
    return lines(run('inspect', '--format', format, ...ids)).map((line) => {
      const [id = '', address = '', words = ''] = line.split(' ');
      return { id, address, note: /NOTE=([^,]*)/.exec(words)?.[1] ?? '' };
    });
  } catch {
    // One of them went away between the two commands.
    return [];
  }
};

/** Sets the stage, with a foreign container and a foreign export on it. `variables` are added to the host's environment. */
export const setRealStage = async (variables: Readonly<Record<string, string>> = {}): Promise<RealStage> => {
  const [podman, space, mosquitto] = await Promise.all([startPodman(), exportNamespace(), startMosquitto()]);
  const home = await mkdtemp(join(tmpdir(), 'infrakit-real-'));
  const env = {
    ...process.env,
    INFRAKIT_HOME: home,
    INFRAKIT_BROKER: mosquitto.url,
    INFRAKIT_MANAGER_CONTROLLERS: 'nfs',
    INFRAKIT_DOCKER_HOST: podman.host,
    ...variables,
  };

  const foreign = podman.run('run', '-d', '--network', 'none', podman.image, '/bin/sleep', '3600').trim();
  const foreignContainer = (): string => podman.run('inspect', '--format', '{{json .Config}}', foreign);
  const foreignBefore = foreignContainer();
  const foreignExport = `${space.volumes}/a ${foreignClient}(ro,no_subtree_check)\n`;
  const foreignFile = join(space.dir, 'foreign.exports');
  await writeFile(foreignFile, foreignExport);

  const [enter = '', ...inside] = space.command.slice(0, -1);
  let host: ReturnType<typeof spawn> | undefined;
  let said = '';
  const endHost: RealStage['endHost'] = async (signal) => {
    const ending = host;
    host = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill(signal);
    await ended;
  };
  const startHost = async (): Promise<void> => {
    const started = spawn(enter, [...inside, process.execPath, program, 'plugin', 'start', ...plugins], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    host = started;
    let own = '';
    await new Promise<void>((resolve, reject) => {
      const failed = (why: string) => () => reject(new Error(`the host ${why}:\n${own}`));
      const late = setTimeout(failed(`was not ready within ${readyMs} ms`), readyMs);
      started.once('exit', failed('ended'));
      for (const stream of [started.stdout, started.stderr]) {
        stream.on('data', (chunk) => {
          own += chunk;
          said += chunk;
          if (!/ ready( |$)/m.test(own)) return;
          clearTimeout(late);
          resolve();
        });
      }
    });
  };

  const exportsTable = (): string => {
    const [command = '', ...args] = space.command;
    return execFileSync(command, [...args, '-s'], { encoding: 'utf8' });
  };
  const exported = (): string[] =>
    lines(exportsTable())
      .flatMap((line) => /volumes\/a\s+(\S+)\(/.exec(line)?.[1] ?? [])
      .filter((client) => client !== foreignClient)
      .sort();
  const options = { env, cwd: home, encoding: 'utf8', timeout: commandMs } as const;
  const subscribe = [
    ...['-p', String(mosquitto.port), '-t', 'infrakit/members/group/web/+'],
    ...['--retained-only', '-W', '1', '-F', '%t'],
  ];
  return {
    podman,
    space,
    startHost,
    endHost,
    hostSaid: () => said,
    writeSpecs: ({ size, note, image = podman.image }) => {
      writeFileSync(join(home, 'web.yml'), groupSpec(image, size, note));
      writeFileSync(join(home, 'rule.yml'), ruleSpec(`${space.volumes}/a`));
    },
    infrakit: (...args) => execFileSync(process.execPath, [program, ...args], options),
    begin: (...args) =>
      new Promise((resolve) => {
        execFile(process.execPath, [program, ...args], options, (error) => resolve(error === null));
      }),
    containers: () => containersOf(podman),
    exportsTable,
    exported,
    wrongWith: (size, note) => {
      const running = containersOf(podman);
      if (running.length !== size) return `${running.length} of ${size} containers run`;
      const other = running.find((container) => note !== undefined && container.note !== note);
      if (other !== undefined) return `${other.id} is still of the old configuration`;
      const wanted = running.map(({ address }) => address).sort();
      const found = exported();
      return JSON.stringify(wanted) === JSON.stringify(found) ? null : `exported to ${found}, wanted ${wanted}`;
    },
    leftOver: (size) => {
      const all = lines(podman.run('ps', '--all', '--filter', ownContainers, '--format', '{{.ID}} {{.Status}}'));
      if (all.length !== size) return `containers are ${all.join(', ')}`;
      const files = readdirSync(space.dir).filter((name) => name !== 'foreign.exports');
      return files.length === size ? null : `files of exports are ${files.join(', ')}`;
    },
    subscribe,
    memberTopics: () => spawnSync(requireProgram('mosquitto_sub'), subscribe, { encoding: 'utf8' }).stdout,
    wrongWithForeign: () => {
      if (foreignContainer() !== foreignBefore) return 'the foreign container is not as it was';
      if (readFileSync(foreignFile, 'utf8') !== foreignExport) return 'the file of the foreign export is not as it was';
      return exportsTable().includes(foreignClient) ? null : 'the foreign export is gone';
    },
    [Symbol.asyncDispose]: async () => {
      await endHost('SIGTERM');
      for (const part of [mosquitto, space, podman]) await part[Symbol.asyncDispose]();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
