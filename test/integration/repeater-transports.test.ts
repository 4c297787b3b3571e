import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { startBlackHole } from './black-hole.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import { freePort } from './loopback.ts';
import { type Mosquitto, startMosquitto } from './mosquitto.ts';
import { collect, openScene, publish, type Scene, until } from './repeater-scene.ts';

/** The way to a broker that a rule writes down. */
interface Way {
  readonly URL: string;
  readonly TLS?: object;
}

let folder: string;
let ours: Certificates;
let others: Certificates;
let plain: Mosquitto;
let secure: Mosquitto;
let strict: Mosquitto;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'repeater-tls-'));
  const make = async (name: string): Promise<Certificates> => makeCertificates(await mkdtemp(join(folder, name)));
  [ours, others] = [await make('ours-'), await make('others-')];
  plain = await startMosquitto({ websockets: true });
  secure = await startMosquitto({ tls: ours, websockets: true });
  strict = await startMosquitto({ tls: { ...ours, isClientRequired: true }, websockets: true });
});
afterAll(async () => {
  for (const broker of [plain, secure, strict]) await broker[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Every way there is, with the broker that it leads to. */
const ways = (): Readonly<Record<string, readonly [Mosquitto, Way]>> => {
  const { ca, client } = ours;
  return {
    'tcp:': [plain, { URL: `tcp://127.0.0.1:${plain.port}` }],
    'unix:': [plain, { URL: plain.unixUrl }],
    'ws:': [plain, { URL: plain.websocketUrl }],
    'mqtts: with its ca': [secure, { URL: secure.url, TLS: { ca } }],
    'ssl: without looking': [secure, { URL: secure.url.replace('mqtts', 'ssl'), TLS: { insecure: true } }],
    'wss: with its ca': [secure, { URL: secure.websocketUrl, TLS: { ca } }],
    'mqtts: with a certificate of ours': [strict, { URL: strict.url, TLS: { ca, ...client } }],
    'wss: with a certificate of ours': [strict, { URL: strict.websocketUrl, TLS: { ca, ...client } }],
  };
};

/** Where plain clients find a broker that speaks TLS only to others. */
const socketOf = ({ unixUrl }: Mosquitto): string => unixUrl.slice('unix:'.length);

let rules = 0;
/** Mirrors a message from one way to another at a QoS, and waits until a plain client has it. */
const carries = async (
  from: readonly [Mosquitto, Way],
  to: readonly [Mosquitto, Way],
  QoS: 0 | 1 | 2,
): Promise<void> => {
  rules += 1;
  const [source, Source] = from;
  const [sink, Sink] = to;
  await using scene = await openScene();
  await using got = await collect(socketOf(sink), `to${rules}/#`);
  await scene.start({ Source, Sink, QoS, sourcetopic: `from${rules}/#`, sinktopic: `to${rules}/` });
  await publish(socketOf(source), `from${rules}/x`, 'hello');
  await until('the message', () => got.messages.length > 0);
  // Larger than what a stream takes at once; mosquitto 2.0.11 sends nothing above 64 KB over WebSockets to anybody.
  await publish(socketOf(source), `from${rules}/y`, 'z'.repeat(60_000));
  await until('the large message', () => got.messages.length > 1);
  expect(got.messages.map(({ topic }) => topic)).toEqual(['x', 'y'].map((name) => `to${rules}/from${rules}/${name}`));
  expect(got.messages[1]?.payload).toHaveLength(60_000);
};

const names = [
  'tcp:',
  'unix:',
  'ws:',
  'mqtts: with its ca',
  'ssl: without looking',
  'wss: with its ca',
  'mqtts: with a certificate of ours',
  'wss: with a certificate of ours',
];
const wayTo = (name: string): readonly [Mosquitto, Way] => {
  const way = ways()[name];
  if (way === undefined) throw new Error(`no way is called ${name}`);
  return way;
};

describe('ways to a real broker', () => {
  test.each(names)('a sink by %s', (name) => carries(wayTo('tcp:'), wayTo(name), 1));
  test.each(names)('a source by %s', (name) => carries(wayTo(name), wayTo('tcp:'), 2));
  test('from wss: to mqtts:, without an acknowledgement', () =>
    carries(wayTo('wss: with its ca'), wayTo('mqtts: with a certificate of ours'), 0));
});

/** Adds a mirror that cannot work; gives what it says about that. */
const refusal = async (scene: Scene, properties: object): Promise<string> => {
  const spec = { Properties: properties, Tags: {}, Init: '', LogicalID: null, Attachments: null };
  const { id } = await scene.mirrors.instance.provision(
    { spec },
    { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 },
  );
  const errorOf = () => scene.mirrors.reports().find(({ record }) => record.ID === id)?.status.lastError ?? '';
  await until('why', () => errorOf() !== '');
  expect(scene.state(id)).not.toBe('active');
  return errorOf();
};

test.each(['mqtt', 'mqtts', 'ws', 'wss'])(
  '%s: what accepts a connection and says nothing, and what is not there, are no reason to hang, and stopping ends soon',
  async (scheme) => {
    await using hole = await startBlackHole();
    const nobody = await freePort();
    const scene = await openScene({ probeMs: 1_000 });
    const to = (port: number) => ({
      Source: plain.url,
      Sink: { URL: `${scheme}://127.0.0.1:${port}` },
      sourcetopic: 's/#',
    });
    expect(await refusal(scene, to(hole.port))).toMatch(/does not answer within 1000 ms/);
    await until('another try', () => hole.accepted() > 2);
    expect(await refusal(scene, to(nobody))).toMatch(/ECONNREFUSED/);
    using since = startAwakeTime();
    await scene[Symbol.asyncDispose]();
    expect(since.ms()).toBeLessThan(2_000);
  },
);

describe('what TLS does not let through', () => {
  test.each(['mqtts', 'wss'])(
    '%s: an authority that is not known, no certificate of ours, one of another authority',
    async (scheme) => {
      await using scene = await openScene();
      const to = (broker: Mosquitto, TLS?: object) => ({
        Source: `127.0.0.1:${plain.port}`,
        Sink: { URL: scheme === 'wss' ? broker.websocketUrl : broker.url, ...(TLS !== undefined && { TLS }) },
        sourcetopic: 's/#',
      });
      expect(await refusal(scene, to(secure))).toMatch(/certificate/);
      expect(await refusal(scene, to(secure, { ca: others.ca }))).toMatch(/certificate/);
      expect(await refusal(scene, to(strict, { ca: ours.ca }))).toMatch(/hung up|not reachable|certificate/);
      expect(await refusal(scene, to(strict, { ca: ours.ca, ...others.client }))).toMatch(
        /hung up|not reachable|alert|ca/,
      );
    },
  );

  test('files that are not there or are no certificates are told by name, and no part of them', async () => {
    await using scene = await openScene();
    const to = (TLS: object) => ({
      Source: `127.0.0.1:${plain.port}`,
      Sink: { URL: secure.url, TLS },
      sourcetopic: 's/#',
    });
    expect(await refusal(scene, to({ ca: '/nowhere/ca.pem' }))).toMatch(
      /TLS file cannot be read: .*\/nowhere\/ca\.pem/,
    );
    const file = join(folder, 'key.pem');
    await writeFile(file, 'this is my secret key');
    const error = await refusal(scene, to({ ca: ours.ca, cert: ours.client.cert, key: file }));
    expect(error).toMatch(/TLS cannot be set up/);
    expect(error).not.toContain('secret');
  });

  test('TLS where there is none, a certificate without its key, and a password without a user are refused at once', async () => {
    await using scene = await openScene();
    const validate = (Sink: object) =>
      scene.mirrors.instance.validate(
        { properties: { Source: plain.url, Sink, sourcetopic: 's/#' } },
        { signal: AbortSignal.timeout(30_000), timeoutMs: 30_000 },
      );
    await expect(validate({ URL: plain.url, TLS: { insecure: true } })).rejects.toThrow(
      /addresses that begin with mqtts: or wss:/,
    );
    await expect(validate({ URL: secure.url, TLS: { cert: 'x' } })).rejects.toThrow(/cert and key of TLS go together/);
    await expect(validate({ URL: plain.url, Password: 'env:SECRET' })).rejects.toThrow(/needs a Username/);
  });
});
