import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type ChildHost, startChild, temporaryHome } from '../e2e/hosts.ts';
import { brokerOf, connectOperator, eventually, type Operator } from '../e2e/operator.ts';
import { cattle, cattleNfs, miners, plugins } from '../e2e/specs.ts';
import { follows, hasMembers } from '../e2e/stack.ts';

const rounds = 5;
const largeRounds = 3;
const convergeMs = 120_000;
/** How long a host is left alone before its idle CPU is measured, until garbage of the last scale is collected, and during that. */
const [settleMs, idleMs] = [30_000, 30_000];
/** The kernel's clock ticks a second, as all of Linux has them. */
const ticksPerSecond = 100;
const program = fileURLToPath(new URL('../../packages/cli/bin/infrakit.js', import.meta.url));

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

/** CPU time of a process so far, in ms. */
const cpuMs = async (pid: number): Promise<number> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
};

const residentMb = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
};

/** The part of one core that a host uses while nothing happens. */
const idleCpu = async ({ pid }: ChildHost): Promise<number> => {
  await delay(settleMs);
  const [beforeMs, startedMs] = [await cpuMs(pid), performance.now()];
  await delay(idleMs);
  return ((await cpuMs(pid)) - beforeMs) / (performance.now() - startedMs);
};

/** How many entries the sink has, counted cheaply: the digest tells when nothing changed. */
const untilEnrolled = (operator: Operator, count: number): Promise<unknown> =>
  eventually(`${count} authorisations`, convergeMs, async () =>
    (await operator.instances('nfs-auth/disk')).length === count ? true : undefined,
  );

/** Until a scale is answered, and from the answer until the sink has as many entries. */
const scaling = async (
  operator: Operator,
  size: number,
): Promise<{ readonly answerMs: number; readonly sinkMs: number }> => ({
  answerMs: await timed(() => operator.scale('cattle', size)),
  sinkMs: await timed(() => untilEnrolled(operator, size)),
});

const scaled = async (operator: Operator, size: number): Promise<number> => (await scaling(operator, size)).sinkMs;

const execute = promisify(execFile);

/** Wall times of a list verb and of Node with nothing to do, taken in turns. */
const commandLine = async (home: string): Promise<{ readonly lsMs: number; readonly nodeMs: number }> => {
  const env = { ...process.env, INFRAKIT_HOME: home };
  const [ls, node]: [number[], number[]] = [[], []];
  for (let round = 0; round < 15; round += 1) {
    ls.push(await timed(() => execute(process.execPath, [program, 'local', 'mystack/miners', 'ls'], { env })));
    node.push(await timed(() => execute(process.execPath, ['-e', '0'], { env })));
  }
  return { lsMs: median(ls), nodeMs: median(node) };
};

/**
 * The main job against the clock (issue 5): the host is a process with a file home and default settings, from the build; the
 * sink is seen by a plain client of the bus. Times count from the answer to the scale; CPU is a part of one core.
 */
export const run = async (): Promise<Record<string, unknown>> => {
  await using home = await temporaryHome();
  await using host = await startChild(plugins, { home: home.path });
  await using operator = await connectOperator(await brokerOf(home.path));
  await operator.commit(miners());
  await operator.commit(cattle());
  await operator.commit(cattleNfs());
  await hasMembers(operator, 'miners', 5);
  await follows(operator, 10);
  const times = {
    up: [] as number[],
    down: [] as number[],
    large: [] as number[],
    huge: [] as number[],
    answer: [] as number[],
  };
  for (let round = 0; round < rounds; round += 1) {
    times.up.push(await scaled(operator, 20));
    times.down.push(await scaled(operator, 8));
    await scaled(operator, 10);
  }
  const { lsMs, nodeMs } = await commandLine(home.path);
  for (let round = 0; round < largeRounds; round += 1) {
    times.large.push(await scaled(operator, 1_000));
    if (round < largeRounds - 1) await scaled(operator, 10);
  }
  const idle1000 = await idleCpu(host);
  for (let round = 0; round < largeRounds; round += 1) {
    const { answerMs, sinkMs } = await scaling(operator, 10_000);
    times.answer.push(answerMs);
    times.huge.push(sinkMs);
    if (round < largeRounds - 1) await scaled(operator, 1_000);
  }
  const idle10000 = await idleCpu(host);
  const whole = (value: number): number => Math.round(value);
  return {
    scale_10_20_ms: whole(median(times.up)),
    scale_20_8_ms: whole(median(times.down)),
    scale_10_1000_ms: whole(median(times.large)),
    scale_1000_10000_ms: whole(median(times.huge)),
    answer_1000_10000_ms: whole(median(times.answer)),
    idle_cpu_1000: Number(idle1000.toFixed(4)),
    idle_cpu_10000: Number(idle10000.toFixed(4)),
    rss_mb_10000: whole(await residentMb(host.pid)),
    cli_ls_ms: whole(lsMs),
    node_ms: whole(nodeMs),
  };
};
