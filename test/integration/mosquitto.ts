import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { requireProgram } from '../programs.mjs';
import type { Certificates } from './certificates.ts';
import { freePort } from './loopback.ts';

/** How the broker is set up; a plain anonymous one that keeps nothing unless said otherwise. */
export interface MosquittoOptions {
  /** Keeps retained messages and sessions in its folder, over restarts of this broker. */
  readonly persistence?: boolean;
  /** Password by user name; without one nobody gets in. */
  readonly users?: Readonly<Record<string, string>>;
  /** TLS only, but on the UNIX socket; `isClientRequired`: a client must have a certificate. */
  readonly tls?: Certificates & { readonly isClientRequired?: boolean };
  /** A free one when left out. */
  readonly port?: number;
  /** Listens for WebSockets too, on a port of its own. */
  readonly websockets?: boolean;
  /** Further lines of its configuration. */
  readonly config?: readonly string[];
}

/** A real mosquitto of this test alone. */
export interface Mosquitto extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** It always listens on a UNIX socket too. */
  readonly unixUrl: string;
  /** Only with `websockets`. */
  readonly websocketUrl: string;
  readonly pid: () => number | undefined;
  /** Starts it again, on the same port and folder, after `stop` or `kill`. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly kill: () => Promise<void>;
  /** `stop` and `start`: without persistence all retained messages are gone. */
  readonly restart: () => Promise<void>;
  /** It lives, its connections stay, it does nothing. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

/** Long, for a busy machine; one that is killed before it has written its store has lost it. */
const [readyTimeoutMs, stopTimeoutMs] = [30_000, 30_000];
/** CONNECT of MQTT 3.1.1, client id `p`; any CONNACK will do. */
const probe = Buffer.from('100d00044d51545404020000000170', 'hex');

const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path: socketPath });
    const end = (isReady: boolean): void => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setTimeout(readyTimeoutMs, () => end(false));
    socket.on('connect', () => socket.write(probe));
    socket.on('data', (data) => end(data[0] === 0x20));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
  });

const writeConfig = async (folder: string, port: number, websocketPort: number, options: MosquittoOptions) => {
  const { persistence, users, tls, websockets, config = [] } = options;
  const lines = ['user root', 'log_dest stderr', 'log_type error', 'log_type warning', 'set_tcp_nodelay true'];
  if (persistence) {
    await mkdir(join(folder, 'store'), { recursive: true });
    lines.push('persistence true', `persistence_location ${folder}/store/`);
    lines.push('autosave_on_changes true', 'autosave_interval 1');
  }
  lines.push(`allow_anonymous ${users === undefined}`);
  if (users !== undefined) {
    const file = join(folder, 'passwords');
    await writeFile(
      file,
      Object.entries(users)
        .map(([name, password]) => `${name}:${password}\n`)
        .join(''),
    );
    await promisify(execFile)('mosquitto_passwd', ['-U', file]);
    lines.push(`password_file ${file}`);
  }
  lines.push(`listener ${port} 127.0.0.1`);
  const secure =
    tls === undefined
      ? []
      : [
          ...[`cafile ${tls.ca}`, `certfile ${tls.server.cert}`, `keyfile ${tls.server.key}`],
          ...(tls.isClientRequired ? ['require_certificate true'] : []),
        ];
  lines.push(...secure);
  if (websockets) lines.push(`listener ${websocketPort} 127.0.0.1`, 'protocol websockets', ...secure);
  // The last listener: when it answers, the others listen.
  lines.push(`listener 0 ${folder}/m.sock`, ...config);
  await writeFile(join(folder, 'm.conf'), `${lines.join('\n')}\n`);
};

/** Starts a mosquitto on loopback in a temporary folder. A missing program is an error that says to run the set-up. */
export const startMosquitto = async (options: MosquittoOptions = {}): Promise<Mosquitto> => {
  const program = requireProgram('mosquitto');
  const folder = await mkdtemp(join(tmpdir(), 'infrakit-mosquitto-'));
  const socketPath = join(folder, 'm.sock');
  let child: ChildProcess | undefined;
  let said = '';

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill('SIGCONT');
    ending.kill(signal);
    const slow = setTimeout(() => ending.kill('SIGKILL'), stopTimeoutMs);
    await exited;
    clearTimeout(slow);
  };

  const start = async (): Promise<void> => {
    await end('SIGKILL');
    await rm(socketPath, { force: true });
    const started = spawn(program, ['-c', join(folder, 'm.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
    started.stderr.on('data', (data: Buffer) => {
      said = `${said}${data}`.slice(-4_000);
    });
    child = started;
    const deadline = performance.now() + readyTimeoutMs;
    while (!(await answers(socketPath))) {
      if (started.exitCode !== null || performance.now() > deadline) {
        await end('SIGKILL');
        throw new Error(`mosquitto did not start: ${said}`);
      }
      await delay(5);
    }
  };

  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });

  /** A port that was free a moment ago may be taken by now: then another one. */
  const startOnPort = async (triesLeft: number): Promise<{ port: number; websocketPort: number }> => {
    const port = options.port ?? (await freePort());
    const websocketPort = options.websockets ? await freePort() : 0;
    await writeConfig(folder, port, websocketPort, options);
    try {
      await start();
      return { port, websocketPort };
    } catch (error) {
      if (options.port !== undefined || triesLeft === 0 || !said.includes('Address already in use')) {
        await remove();
        throw error;
      }
      said = '';
      return startOnPort(triesLeft - 1);
    }
  };

  const { port, websocketPort } = await startOnPort(2);
  const stop = () => end('SIGTERM');
  return {
    port,
    url: options.tls === undefined ? `mqtt://127.0.0.1:${port}` : `mqtts://localhost:${port}`,
    unixUrl: `unix:${socketPath}`,
    websocketUrl: `${options.tls === undefined ? 'ws://127.0.0.1' : 'wss://localhost'}:${websocketPort}/`,
    pid: () => child?.pid,
    start,
    stop,
    kill: () => end('SIGKILL'),
    restart: async () => {
      await stop();
      await start();
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await end('SIGKILL');
      await remove();
    },
  };
};
