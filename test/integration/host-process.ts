import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

const readyTimeoutMs = 20_000;

/** How a host ended. */
export interface HostEnd {
  readonly exit: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A host in a process of its own. */
export interface HostProcess extends AsyncDisposable {
  readonly pid: number;
  /** Its log so far, a JSON line each. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
  /** Resolves when it says `ready`, with the ms it took, without Node and its loader. Fails with its log when it ends before. */
  readonly ready: () => Promise<number>;
  /** A line with this message has been logged. */
  readonly said: (message: string) => Promise<void>;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<HostEnd>;
}

/** Starts a bundled host with nothing in its environment but what is given. */
export const startHostProcess = (
  program: string,
  plugins: readonly string[],
  env: Readonly<Record<string, string>>,
): HostProcess => {
  const { PATH = '' } = process.env;
  const started: ChildProcess = spawn(process.execPath, [program, ...plugins], {
    env: { PATH, INFRAKIT_LISTEN: '127.0.0.1:0', INFRAKIT_LOG_FORMAT: 'json', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  started.stdout?.on('data', (data: Buffer) => {
    stdout += data;
  });
  started.stderr?.on('data', (data: Buffer) => {
    stderr += data;
  });
  let hasEnded = false;
  const ended = once(started, 'close').then(([code, signal]): HostEnd => {
    hasEnded = true;
    return { exit: code ?? signal, stdout, stderr };
  });
  const log = (): Record<string, unknown>[] =>
    stderr.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line)] : []));
  const said = async (message: string): Promise<void> => {
    const deadline = performance.now() + readyTimeoutMs;
    while (!log().some(({ msg }) => msg === message)) {
      if (hasEnded || performance.now() > deadline) throw new Error(`the host never said "${message}": ${stderr}`);
      await delay(5);
    }
  };
  return {
    pid: started.pid ?? 0,
    log,
    said,
    ready: async () => {
      await said('ready');
      return Number(log().find(({ msg }) => msg === 'ready')?.tookMs);
    },
    signal: (signal) => void started.kill(signal),
    ended,
    [Symbol.asyncDispose]: async () => {
      started.kill('SIGKILL');
      await ended;
    },
  };
};
