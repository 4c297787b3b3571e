import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startGate } from './gate.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { collect, publish, startRepeaterProcess, stream, until } from './repeater-scene.ts';
import { sentAgain } from './sent-again.ts';

/** How an outage is made. */
interface OutageOptions {
  readonly qos: 1 | 2;
  /** Whether messages wait on the repeater's disk, or in its session at the source. */
  readonly hasBuffer: boolean;
  /** How long the sink is away, in ms. */
  readonly downMs: number;
}

/** What came of it. Nothing was lost, doubled at QoS 2 or out of order, or it would have been an error. */
interface OutageFacts {
  readonly sent: number;
  /** Messages that came more than once, and how many were under way when something broke: so many were sent again. */
  readonly doubled: number;
  readonly mayBeDoubled: number;
  readonly kills: number;
  readonly sourceRestarts: number;
  /** From the sink's return to the last message of its outage, in ms. */
  readonly catchUpMs: number;
}

const topics = ['s/x', 's/y'] as const;
const perSecond = 250;

/** A broker that keeps its sessions when it is told to stop, and all that waits in them. */
const startBroker = async (folder: string): Promise<Mosquitto> => {
  await mkdir(folder);
  return startMosquitto({
    config: ['persistence true', `persistence_location ${folder}/`, 'max_queued_messages 0'],
  });
};

/** Both topics at once, stopped and begun again where they were. */
const loads = (port: number, qos: 1 | 2) => {
  let at: readonly number[] = topics.map(() => 0);
  let running: readonly ReturnType<typeof stream>[] = [];
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  return {
    begin: () => {
      running = topics.map((topic, n) => stream(port, topic, { qos, perSecond, from: at[n] ?? 0 }));
    },
    end: async () => {
      at = await Promise.all(running.map((load) => load.stop()));
      running = [];
    },
    sent: () => sum(running.length > 0 ? running.map((load) => load.sent()) : at),
    counts: () => at,
    kill: () => {
      for (const load of running) load.kill();
    },
  };
};

/** Both QoS at once; both have ended when it fails. */
export const runOutages = async (options: Omit<OutageOptions, 'qos'>): Promise<readonly OutageFacts[]> => {
  const results = await Promise.allSettled(([1, 2] as const).map((qos) => runOutage({ ...options, qos })));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
};

/**
 * 500 messages a second on two topics while the repeater is killed hard ten times, the sink is away, and the source is restarted
 * during that and again while what waited is delivered. Errors say what was lost, doubled or out of order.
 */
const runOutage = async ({ qos, hasBuffer, downMs }: OutageOptions): Promise<OutageFacts> => {
  const folder = await mkdtemp(join(tmpdir(), 'repeater-outage-'));
  try {
    await using source = await startBroker(join(folder, 'source'));
    await using sink = await startBroker(join(folder, 'sink'));
    let again = 0;
    const count = sentAgain.bind(null, () => {
      again += 1;
    });
    await using before = await startGate(source.port, () => ({ outward: count() }));
    await using gate = await startGate(sink.port, () => ({ ...(hasBuffer && { inward: count() }) }));
    await using got = await collect(sink.port);
    await using repeater = await startRepeaterProcess({
      Source: before.url,
      Sink: { URL: gate.url },
      sourcetopic: 's/#',
      sinktopic: 'mirror/',
      QoS: qos,
      ...(hasBuffer && { Buffer: { MaxBytes: 256 * 1024 * 1024 } }),
    });
    await until('the mirror', async () => {
      await publish(source.port, 's/probe', 'x');
      return got.messages.length > 0;
    });
    const load = loads(source.port, qos);
    using _ended = { [Symbol.dispose]: load.kill };
    const done = { kills: 0, sourceRestarts: 0 };
    const kill = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) {
        const before = load.sent();
        await until('traffic', () => load.sent() > before + 150, 30_000);
        await repeater.crash();
        done.kills += 1;
      }
    };
    /** Its publishers are told to stop before, so that what they sent is acknowledged once. */
    const restartSource = async (): Promise<void> => {
      await load.end();
      await source.restart();
      done.sourceRestarts += 1;
      load.begin();
    };

    load.begin();
    await kill(4);
    const downAtMs = performance.now();
    await gate.close();
    await sink.stop();
    await kill(2);
    await restartSource();
    await kill(1);
    await delay(Math.max(0, downAtMs + downMs - performance.now()));
    await load.end();
    const waited = load.counts();
    load.begin();
    const numbersOf = (topic: string): number[] =>
      got.messages.flatMap((message) => (message.topic === `mirror/${topic}` ? [Number(message.payload)] : []));
    const hasCome = (counts: readonly number[]): boolean =>
      topics.every((topic, n) => numbersOf(topic).includes((counts[n] ?? 0) - 1));
    await sink.start();
    // Who counts here comes back first: mosquitto 2.0.11 may forget a message that comes just when a client returns.
    await until('the collector', async () => {
      await publish(sink.port, 'back', 'x');
      return got.messages.some(({ topic }) => topic === 'back');
    });
    await gate.open();
    const backMs = performance.now();
    await kill(3);
    await restartSource();
    await until('what waited', () => hasCome(waited), 120_000);
    const catchUpMs = Math.round(performance.now() - backMs);
    await load.end();
    await until('the last ones', () => hasCome(load.counts()), 60_000);

    let doubled = 0;
    for (const [n, topic] of topics.entries()) {
      const sent = load.counts()[n] ?? 0;
      const seen = numbersOf(topic);
      const first = [...new Set(seen)];
      doubled += seen.length - first.length;
      if (first.length !== sent) {
        const lost = Array.from({ length: sent }, (_, number) => number).filter((number) => !first.includes(number));
        const places = `${lost[0]} … ${lost.at(-1)}`;
        throw new Error(`QoS ${qos}: ${lost.length} of ${sent} on ${topic} were lost: ${places}`);
      }
      const wrong = first.findIndex((number, at) => number !== at);
      if (wrong !== -1) {
        const around = first.slice(Math.max(0, wrong - 3), wrong + 30).join(' ');
        throw new Error(`QoS ${qos}: ${topic} is out of order: … ${around} …`);
      }
    }
    // mosquitto 2.0.11 may have far more under way than its window says, so what it sends again is counted on the wire.
    const mayBeDoubled = qos === 2 ? 0 : again;
    if (doubled > mayBeDoubled) throw new Error(`QoS ${qos}: ${doubled} came twice, and ${mayBeDoubled} may`);
    return { sent: load.sent(), doubled, mayBeDoubled, ...done, catchUpMs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
