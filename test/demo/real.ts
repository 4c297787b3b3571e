import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportNamespace } from '../integration/export-namespace.ts';
import { startMosquitto } from '../integration/mosquitto.ts';
import { startPodman } from '../integration/podman.ts';
import { requireProgram } from '../programs.mjs';
import { program } from './stage.ts';

/** How long a step may take, in ms. */
const stepMs = 15_000;
const summary: string[] = [];

const chapter = (title: string): void => console.log(`\n\n── ${title} ${'─'.repeat(Math.max(0, 100 - title.length))}`);

/** Waits until `check` finds nothing wrong; the error says what was still wrong, and in which step. */
const step = async (what: string, check: () => string | null): Promise<number> => {
  const startedMs = performance.now();
  for (;;) {
    const wrong = check();
    const tookMs = Math.round(performance.now() - startedMs);
    if (wrong === null) {
      summary.push(`${String(tookMs).padStart(6)} ms  ${what}`);
      return tookMs;
    }
    if (tookMs > stepMs) throw new Error(`the step "${what}" did not come about: ${wrong}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

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

await using podman = await startPodman();
await using space = await exportNamespace();
await using mosquitto = await startMosquitto();
const home = await mkdtemp(join(tmpdir(), 'infrakit-real-'));
const env = {
  ...process.env,
  INFRAKIT_HOME: home,
  INFRAKIT_BROKER: mosquitto.url,
  INFRAKIT_MANAGER_CONTROLLERS: 'nfs',
  INFRAKIT_DOCKER_HOST: podman.host,
};

const show = (line: string, output: string): string => {
  console.log(`\n$ ${line}\n${output.trimEnd()}`);
  return output;
};

const infrakit = (...args: readonly string[]): string =>
  show(
    `infrakit ${args.join(' ')}`,
    execFileSync(process.execPath, [program, ...args], { env, cwd: home, encoding: 'utf8' }),
  );

const containers = (): { readonly id: string; readonly address: string; readonly note: string }[] => {
  const ids = podman
    .run('ps', '--quiet', '--no-trunc', '--filter', 'label=infrakit.tag.infrakit.group=web')
    .split('\n')
    .filter(Boolean);
  if (ids.length === 0) return [];
  const format = '{{.Id}} {{.NetworkSettings.IPAddress}} {{range .Config.Env}}{{.}},{{end}}';
  try {
    const lines = podman
      .run('inspect', '--format', format, ...ids)
      .split('\n')
      .filter(Boolean);
    return lines.map((line) => {
      const [id = '', address = '', words = ''] = line.split(' ');
      return { id, address, note: /NOTE=([^,]*)/.exec(words)?.[1] ?? '' };
    });
  } catch {
    // One of them went away between the two commands.
    return [];
  }
};

const exportsTable = (): string => {
  const [command = '', ...args] = space.command;
  return execFileSync(command, [...args, '-s'], { encoding: 'utf8' });
};

const exported = (): string[] =>
  exportsTable()
    .split('\n')
    .flatMap((line) => /volumes\/a\s+(\S+)\(/.exec(line)?.[1] ?? [])
    .filter((client) => client !== foreignClient)
    .sort();

/** What is wrong with `count` members, each exported to by its address and nobody else; null when nothing is. */
const wrongWith = (count: number, note?: string): string | null => {
  const running = containers();
  if (running.length !== count) return `${running.length} of ${count} containers run`;
  const other = running.find((container) => note !== undefined && container.note !== note);
  if (other !== undefined) return `${other.id} is still of the old configuration`;
  const wanted = running.map(({ address }) => address).sort();
  const found = exported();
  return JSON.stringify(wanted) === JSON.stringify(found) ? null : `exported to ${found}, wanted ${wanted}`;
};

const subArgs = [
  '-p',
  String(mosquitto.port),
  '-t',
  'infrakit/members/group/web/+',
  '--retained-only',
  '-W',
  '1',
  '-F',
  '%t',
];

/** The members' topics, as a plain client lists them. */
const memberTopics = (): string => {
  const { stdout } = spawnSync(requireProgram('mosquitto_sub'), subArgs, { encoding: 'utf8' });
  return stdout;
};

/** Waits for the members' topics as well, and shows what the real tools say. */
const showAll = async (count: number): Promise<void> => {
  let topics = '';
  await step(`${count} member topics`, () => {
    topics = memberTopics();
    const found = topics.split('\n').filter(Boolean).length;
    return found === count ? null : `${found} topics`;
  });
  show('podman ps', podman.run('ps', '--format', 'table {{.ID}} {{.Image}} {{.Status}} {{.Names}}'));
  show('exportfs -s', exportsTable());
  show(`mosquitto_sub ${subArgs.join(' ')}`, topics);
};

const foreignClient = '10.99.99.99';
const foreign = podman.run('run', '-d', '--network', 'none', podman.image, '/bin/sleep', '600').trim();
const foreignBefore = podman.run('inspect', '--format', '{{json .Config}}', foreign);
const foreignExport = `${space.volumes}/a ${foreignClient}(ro,no_subtree_check)\n`;
await writeFile(join(space.dir, 'foreign.exports'), foreignExport);

const [enter = '', ...inside] = space.command.slice(0, -1);
const plugins = ['manager:mystack', 'group', 'vanilla', 'docker', 'nfs-exports', 'enrollment:nfs'];
const host = spawn(enter, [...inside, process.execPath, program, 'plugin', 'start', ...plugins], {
  env,
  stdio: ['ignore', 'pipe', 'pipe'],
});
let said = '';
for (const stream of [host.stdout, host.stderr]) stream.on('data', (chunk) => (said += chunk));

try {
  chapter('One process on a real broker, with the real engine and the real exports');
  await step('the host is ready', () =>
    host.exitCode !== null ? 'it ended' : / ready( |$)/m.test(said) ? null : 'not yet',
  );
  await writeFile(join(home, 'web.yml'), groupSpec(podman.image, 3, 'first'));
  await writeFile(join(home, 'rule.yml'), ruleSpec(`${space.volumes}/a`));

  chapter('Three HTTP containers, each may mount the volume by its address');
  infrakit('local', 'mystack/groups', 'commit', '-y', 'web.yml');
  infrakit('local', 'mystack/nfs', 'commit', '-y', 'rule.yml');
  await step('3 containers, 3 exports', () => wrongWith(3));
  await showAll(3);

  chapter('Scale to 6');
  infrakit('local', 'mystack/web', 'scale', '6');
  await step('6 containers, 6 exports', () => wrongWith(6));
  await showAll(6);

  chapter('One container is killed by hand');
  const [victim] = containers();
  show(`podman kill ${victim?.id.slice(0, 12)}`, podman.run('kill', victim?.id ?? ''));
  const tookMs = await step('replaced, its export gone, the new one there', () =>
    containers().some(({ id }) => id === victim?.id) ? 'it still runs' : wrongWith(6),
  );
  if (tookMs > 2_000) throw new Error(`replacing a container took ${tookMs} ms, more than 2 s`);
  await showAll(6);

  chapter('Another configuration: members are replaced one by one, the exports follow');
  await writeFile(join(home, 'web.yml'), groupSpec(podman.image, 6, 'second'));
  infrakit('local', 'mystack/groups', 'commit', '-y', 'web.yml');
  await step('6 new containers, 6 exports', () => wrongWith(6, 'second'));
  await showAll(6);

  chapter('Scale to 2, then destroy');
  infrakit('local', 'mystack/web', 'scale', '2');
  await step('2 containers, 2 exports', () => wrongWith(2));
  await showAll(2);
  infrakit('local', 'mystack/web', 'destroy');
  await step('no container, no export', () => wrongWith(0));
  await showAll(0);

  const isForeignWhole =
    podman.run('inspect', '--format', '{{json .Config}}', foreign) === foreignBefore &&
    exportsTable().includes(foreignClient);
  if (!isForeignWhole) throw new Error('a foreign container or export is not as it was before');
  chapter('Summary: the foreign container and export are as they were');
  console.log(summary.join('\n'));
} catch (error) {
  console.error('\ndemo:real: it failed:', error);
  console.error(`\nThe host said:\n${said}`);
  process.exitCode = 1;
} finally {
  if (host.exitCode === null) {
    const ended = once(host, 'exit');
    host.kill('SIGTERM');
    await ended;
  }
  await rm(home, { recursive: true, force: true });
}
