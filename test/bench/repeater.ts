import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startMosquitto } from '../integration/mosquitto.ts';
import { type LoadResult, measureLoad } from './load/load.ts';

const unlimited = ['max_queued_messages 0', 'max_inflight_messages 0'];
const [rounds, measureMs, payloadBytes] = [3, 2_000, 100];
const embeddedChild = fileURLToPath(new URL('load/embedded-child.ts', import.meta.url));
const underTest = fileURLToPath(new URL('repeater-under-test', import.meta.url));

/** CPU time of a process, in s: fields 14 and 15 of its line, after the name in brackets, in hundredths. */
const cpuSeconds = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

interface Figures extends LoadResult {
  /** CPU seconds per million messages of the process between the ends. */
  readonly cpuSecondsPerMillion: number;
}

interface Child {
  readonly process: ChildProcess;
  readonly end: () => Promise<void>;
}

const startChild = (command: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Child => {
  const [program, ...args] = command;
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    process: child,
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
};

/** Adds the CPU time of a process that exists when the measured time begins. */
const withCpu = async (
  pid: () => number | undefined,
  measure: (at: (moment: 'begin' | 'end') => void) => Promise<LoadResult>,
): Promise<Figures> => {
  let cpu = 0;
  const result = await measure((moment) => {
    cpu = cpuSeconds(pid()) - (moment === 'begin' ? 0 : cpu);
  });
  const cpuSecondsPerMillion = Math.round((cpu * 100_000_000) / result.messages) / 100;
  return { ...result, cpuSecondsPerMillion };
};

/** Mosquitto's own bridge between two mosquittos. */
const throughBridge = async (qos: 1 | 2): Promise<Figures> => {
  await using sink = await startMosquitto({ config: unlimited });
  const bridge = [
    'connection peer',
    `address 127.0.0.1:${sink.port}`,
    `topic # out ${qos} "" mirror/`,
    'try_private false',
    'notifications false',
    'bridge_protocol_version mqttv311',
    'restart_timeout 1',
  ];
  await using source = await startMosquitto({ config: [...unlimited, ...bridge] });
  return await withCpu(source.pid, (at) =>
    measureLoad({
      source: { kind: 'client', at: source.port },
      sink: { kind: 'client', at: sink.port },
      start: async () => undefined,
      qos,
      payloadBytes,
      measureMs,
      at,
    }),
  );
};

/** An embedded broker with a repeater in its process, in the place of the first mosquitto. */
const fromEmbedded = async (qos: 1 | 2, over: 'process' | 'socket'): Promise<Figures> => {
  await using sink = await startMosquitto({ config: unlimited });
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-bench-'));
  const args = ['--import', 'tsx', embeddedChild];
  const child = startChild([process.execPath, ...args], {
    FOLDER: folder,
    SINK_PORT: `${sink.port}`,
    QOS: `${qos}`,
    OVER: over,
  });
  try {
    if (child.process.stdout !== null) await once(child.process.stdout, 'data');
    return await withCpu(
      () => child.process.pid,
      (at) =>
        measureLoad({
          source: { kind: 'client', at: `${folder}/b.sock` },
          sink: { kind: 'client', at: sink.port },
          start: async () => undefined,
          qos,
          payloadBytes,
          measureMs,
          at,
        }),
    );
  } finally {
    await child.end();
    await rm(folder, { recursive: true, force: true });
  }
};

/** The repeater between two ends that are no brokers, so that all there is to measure is itself. */
const hop = async (qos: 0 | 1 | 2, rules: number): Promise<Figures> => {
  let child: Child | undefined;
  try {
    return await withCpu(
      () => child?.process.pid,
      (at) =>
        measureLoad({
          source: { kind: 'broker' },
          sink: { kind: 'broker' },
          start: async ({ source, sink }) => {
            child = startChild([underTest], {
              SRC_PORT: `${source}`,
              DST_PORT: `${sink}`,
              QOS: `${qos}`,
              RULES: `${rules}`,
            });
          },
          qos,
          payloadBytes,
          measureMs,
          at,
        }),
    );
  } finally {
    await child?.end();
  }
};

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const sum = (values: readonly number[]): number => values.reduce((left, right) => left + right, 0);

const summary = (all: readonly Figures[]) => ({
  messagesPerSecond: middle(all.map(({ perSecond }) => perSecond)),
  cpuSecondsPerMillion: middle(all.map(({ cpuSecondsPerMillion }) => cpuSecondsPerMillion)),
  lost: sum(all.map(({ lost }) => lost)),
  doubled: sum(all.map(({ doubled }) => doubled)),
  misordered: sum(all.map(({ misordered }) => misordered)),
});

type Kinds = Readonly<Record<string, () => Promise<Figures>>>;

/** Runs each in turn, so many rounds, so that all see the same weather. */
const inTurn = async <K extends Kinds>(kinds: K) => {
  const results = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of Object.entries(kinds)) {
      results.set(name, [...(results.get(name) ?? []), await measure()]);
    }
  }
  return Object.fromEntries([...results].map(([name, all]) => [name, summary(all)]));
};

/**
 * What the repeater moves from the embedded broker to a mosquitto, beside mosquitto's bridge between two mosquittos; and what a thousand
 * rules cost against one. Medians; `npm run build` first.
 */
export const run = async (): Promise<Record<string, unknown>> => {
  const fromEmbeddedBroker: Record<string, unknown> = {};
  for (const qos of [1, 2] as const) {
    fromEmbeddedBroker[`qos${qos}`] = await inTurn({
      bridge: () => throughBridge(qos),
      inProcess: () => fromEmbedded(qos, 'process'),
      overUnixSocket: () => fromEmbedded(qos, 'socket'),
    });
  }
  const rules = await inTurn({ with1: () => hop(1, 1), with1000: () => hop(1, 1_000) });
  return { rounds, measureMs, payloadBytes, fromEmbeddedBroker, rules };
};
