import type { Campaign } from '../campaign.ts';
import { startMosquitto } from '../integration/mosquitto.ts';
import { collect, publish, startRepeaterProcess, stream, until } from '../integration/repeater-scene.ts';

/** A random number below 1 from a seed (mulberry32). */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** One run at a QoS: what was sent arrives, in order, whatever was killed meanwhile. */
const runOnce = async (qos: 1 | 2, random: () => number, seconds: number) => {
  const options = { persistence: true, config: ['max_queued_messages 0'] };
  await using source = await startMosquitto(options);
  await using sink = await startMosquitto(options);
  await using got = await collect(sink.port);
  await using repeater = await startRepeaterProcess({
    Source: source.url,
    Sink: { URL: sink.url },
    sourcetopic: 's/#',
    sinktopic: 'mirror/',
    QoS: qos,
  });
  await until('the mirror', async () => {
    await publish(source.port, 's/probe', 'x');
    return got.messages.length > 0;
  });
  const load = stream(source.port, 's/x', { qos, perSecond: 500 });
  const endMs = performance.now() + seconds * 1_000;
  const done = { kills: 0, freezes: 0, outages: 0 };
  while (performance.now() < endMs) {
    const before = load.sent();
    await until('traffic', () => load.sent() > before + 50 + 500 * random(), 30_000);
    const what = random();
    if (what < 0.6) {
      await repeater.crash();
      done.kills += 1;
    } else if (what < 0.8) {
      sink.freeze();
      const at = load.sent();
      await until('a while', () => load.sent() > at + 2_000 * random());
      sink.thaw();
      done.freezes += 1;
    } else {
      await sink.stop();
      const at = load.sent();
      await until('a while', () => load.sent() > at + 2_000 * random());
      await sink.start();
      done.outages += 1;
    }
  }
  const sent = await load.stop();
  const numbers = () => got.messages.flatMap(({ topic, payload }) => (topic === 'mirror/s/x' ? [Number(payload)] : []));
  await until('the last one', () => numbers().includes(sent - 1), 60_000);
  const seen = numbers();
  const first = [...new Set(seen)];
  const doubled = seen.length - first.length;
  if (first.length !== sent) throw new Error(`QoS ${qos}: ${sent - first.length} of ${sent} were lost`);
  if (first.some((number, at) => number !== at)) throw new Error(`QoS ${qos}: the order is another one`);
  if (qos === 2 && doubled > 0) throw new Error(`QoS 2: ${doubled} came twice`);
  return { sent, doubled, ...done };
};

/** Kills the repeater, freezes and stops the sink, at 500 messages a second: at QoS 1 and 2 nothing may be lost. */
const campaign: Campaign = {
  run: async ({ seed, seconds }) => {
    const random = randomFrom(seed);
    return { qos1: await runOnce(1, random, seconds / 2), qos2: await runOnce(2, random, seconds / 2) };
  },
};

export const { run } = campaign;
