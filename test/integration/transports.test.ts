import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Connection,
  type ConnectionStatus,
  connectMqtt,
  type MqttOptions,
  parseBrokerUrl,
  startEmbeddedBroker,
  type TlsMaterial,
} from '@infrakit/bus';
import { AppError } from '@infrakit/core';
import { realAfter } from '@infrakit/spi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAwakeTime } from './awake-time.ts';
import { startBlackHole } from './black-hole.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import { closeServer, freePort, listenOnLoopback } from './loopback.ts';
import { startMosquitto } from './mosquitto.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const deps = { after: realAfter, random: Math.random, log: silent };

const connect = async (url: string, options: Partial<MqttOptions> = {}): Promise<Connection & AsyncDisposable> => {
  const connection = await connectMqtt({ address: parseBrokerUrl(url), clientId: 'transport', ...options }, deps);
  return { ...connection, [Symbol.asyncDispose]: connection.close };
};

/** The error of an attempt, and how long it took. */
const failure = async (url: string, options: Partial<MqttOptions> = {}) => {
  using began = startAwakeTime();
  const error = await connect(url, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`);
  return { code: error.code, message: error.message, ms: began.ms() };
};

const echo = async (connection: Connection): Promise<string> => {
  let hear: (text: string) => void = () => {};
  const heard = new Promise<string>((resolve) => {
    hear = resolve;
  });
  const subscription = connection.subscribe('echo', 1, ({ payload }) => hear(new TextDecoder().decode(payload)));
  await subscription.ready();
  await connection.publish('echo', 'back', { qos: 1 });
  return heard;
};

const statusOf = (connection: Connection, isWanted: (status: ConnectionStatus) => boolean): Promise<ConnectionStatus> =>
  new Promise((resolve) => {
    connection.status.subscribe((status) => {
      if (isWanted(status)) resolve(status);
    });
  });

const protocolOf = async (connection: Connection) => {
  const status = await statusOf(connection, () => true);
  return status.kind === 'connected' ? status.protocol : status.kind;
};

/** The embedded broker, which speaks 3.1.1 only, behind a door that notes which version each client asks for. */
const startOldBroker = async (mayEnter: (version: number | undefined) => boolean = () => true) => {
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-old-'));
  const socketPath = join(folder, 'b.sock');
  const broker = await startEmbeddedBroker({ socketPath }, { ...deps, now: () => performance.now() });
  const versions: (number | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near.on('error', () => near.destroy()));
    near.once('data', (connectPacket: Buffer) => {
      versions.push(connectPacket[8]);
      if (!mayEnter(connectPacket[8])) {
        near.destroy();
        return;
      }
      const far = connectSocket({ path: socketPath });
      far.on('error', () => near.destroy());
      near.on('close', () => far.destroy());
      far.write(connectPacket);
      near.pipe(far).pipe(near);
    });
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `mqtt://127.0.0.1:${await listenOnLoopback(server)}`,
    versions,
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      await closeServer(server);
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

describe('which version of MQTT (issue 4: 5 first where the broker has it, else 3.1.1)', () => {
  test('5 on mosquitto, and 3.1.1 when that is wanted', async () => {
    await using broker = await startMosquitto();
    await using best = await connect(broker.url, { clientId: 'best' });
    await using old = await connect(broker.url, { clientId: 'old', version: '3.1.1' });
    expect([await protocolOf(best), await protocolOf(old)]).toEqual(['5', '3.1.1']);
  });

  test('3.1.1 on a broker that refuses 5, and 5 is not tried again after a reconnect', async () => {
    await using old = await startOldBroker();
    await using connection = await connect(old.url);
    expect(await protocolOf(connection)).toBe('3.1.1');
    const again = statusOf(connection, (status) => status.kind === 'connected' && status.session === 2);
    old.cut();
    await again;
    expect(old.versions).toEqual([5, 4, 4]);
  });

  test('3.1.1 on a broker that hangs up on 5', async () => {
    await using old = await startOldBroker((version) => version !== 5);
    await using connection = await connect(old.url);
    expect([await protocolOf(connection), await echo(connection)]).toEqual(['3.1.1', 'back']);
  });
});

describe('ways to a broker', () => {
  test('a UNIX socket', async () => {
    await using broker = await startMosquitto();
    await using connection = await connect(broker.unixUrl);
    expect(await echo(connection)).toBe('back');
  });

  test('a WebSocket', async () => {
    await using broker = await startMosquitto({ websockets: true });
    await using connection = await connect(broker.websocketUrl);
    expect(await echo(connection)).toBe('back');
  });

  test('user name and password from the address, with %-escapes', async () => {
    await using broker = await startMosquitto({ users: { 'a b': 'p@ss/w%rd' } });
    await using connection = await connect(broker.url.replace('//', '//a%20b:p%40ss%2Fw%25rd@'));
    expect(await echo(connection)).toBe('back');
  });

  test.each(['5', '3.1.1'] as const)(
    'a wrong or missing password is refused in one sentence (MQTT %s)',
    async (version) => {
      await using broker = await startMosquitto({ users: { alice: 'secret' } });
      const refused = {
        code: 'BUS_REFUSED',
        message: expect.stringContaining(`mqtt://127.0.0.1:${broker.port} does not`),
      };
      expect(await failure(broker.url, { version })).toMatchObject(refused);
      const wrong = await failure(broker.url.replace('//', '//alice:wrong@'), { version });
      expect(wrong).toMatchObject(refused);
      expect(wrong.message).not.toContain('wrong@');
    },
  );
});

describe('TLS', () => {
  let folder = '';
  let certificates: Certificates;
  let material: Required<TlsMaterial>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'infrakit-tls-'));
    certificates = await makeCertificates(folder);
    material = {
      ca: await readFile(certificates.ca),
      cert: await readFile(certificates.client.cert),
      key: await readFile(certificates.client.key),
    };
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('a broker whose authority we know', async () => {
    await using broker = await startMosquitto({ tls: certificates });
    for (const url of [broker.url, broker.url.replace('localhost', '127.0.0.1')]) {
      await using connection = await connect(url, { tls: { ca: material.ca } });
      expect(await echo(connection)).toBe('back');
    }
  });

  test('a broker that wants our certificate', async () => {
    await using broker = await startMosquitto({ tls: { ...certificates, isClientRequired: true } });
    await using connection = await connect(broker.url, { tls: material });
    expect(await echo(connection)).toBe('back');
    const without = await failure(broker.url, { tls: { ca: material.ca } });
    expect(without.code).toBe('BUS_REFUSED');
  });

  test('an authority that nobody told us of is not trusted', async () => {
    await using broker = await startMosquitto({ tls: certificates });
    const { code, message } = await failure(broker.url);
    expect(code).toBe('BUS_REFUSED');
    expect(message).toMatch(/^no secure connection to mqtts:\/\/localhost:\d+: self.signed certificate/);
  });

  test('a key that is none', async () => {
    const { code, message } = await failure('mqtts://127.0.0.1:1', { tls: { ...material, key: 'no key' } });
    expect(code).toBe('BUS_REFUSED');
    expect(message).toContain('no secure connection to mqtts://127.0.0.1:1');
  });

  test('a broker without TLS', async () => {
    await using broker = await startMosquitto();
    const { code, ms } = await failure(broker.url.replace('mqtt:', 'mqtts:'), { connectTimeoutMs: 2_000 });
    expect([code, ms < 3_000]).toEqual(['BUS_UNAVAILABLE', true]);
  });
});

describe('nobody there', () => {
  test('nothing listens', async () => {
    const port = await freePort();
    const { code, message } = await failure(`mqtt://127.0.0.1:${port}`);
    expect([code, message]).toEqual([
      'BUS_UNAVAILABLE',
      `cannot reach mqtt://127.0.0.1:${port}: nothing listens there`,
    ]);
  });

  test('no such socket', async () => {
    expect(await failure('unix:/nonexistent/broker.sock')).toMatchObject({
      code: 'BUS_UNAVAILABLE',
      message: 'cannot reach unix:/nonexistent/broker.sock: there is no such socket',
    });
  });

  test.each(['mqtt', 'ws'])(
    'a server that accepts and never answers: an error by the deadline (%s)',
    async (scheme) => {
      await using hole = await startBlackHole();
      const { code, message, ms } = await failure(hole.url.replace('mqtt', scheme), { connectTimeoutMs: 300 });
      expect([code, hole.accepted()]).toEqual(['BUS_UNAVAILABLE', 1]);
      expect(message).toContain('did not answer within 300 ms');
      expect(ms).toBeLessThan(3_000);
    },
  );

  test('a server that speaks something else', async () => {
    const server = createServer((socket) =>
      socket
        .on('error', () => socket.destroy())
        .resume()
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    const port = await listenOnLoopback(server);
    const { code } = await failure(`mqtt://127.0.0.1:${port}`, { connectTimeoutMs: 1_000 });
    await closeServer(server);
    expect(code).toBe('BUS_UNAVAILABLE');
  });

  test('what is given up leaves no attempts behind', async () => {
    let attempts = 0;
    const server = createServer((socket) => {
      attempts += 1;
      socket.destroy();
    });
    const port = await listenOnLoopback(server);
    const timers: (() => void)[] = [];
    const counting = {
      ...deps,
      after: (ms: number, run: () => void) => {
        const entry = () => run();
        timers.push(entry);
        const stop = realAfter(ms, entry);
        return () => {
          timers.splice(timers.indexOf(entry), 1);
          stop();
        };
      },
    };
    const address = parseBrokerUrl(`mqtt://127.0.0.1:${port}`);
    await expect(connectMqtt({ address, clientId: 'once' }, counting)).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
    });
    await closeServer(server);
    expect({ attempts, timers: timers.length }).toEqual({ attempts: 2, timers: 0 });
  });
});
