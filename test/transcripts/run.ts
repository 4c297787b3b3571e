import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { normaliser, type Step, type Transcript } from './transcript.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = fileURLToPath(new URL('files', import.meta.url));
const program = join(root, 'packages/cli/bin/infrakit.js');
const readyMs = 30_000;

const startHost = async (plugins: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> => {
  const host = spawn(process.execPath, [program, 'plugin', 'start', ...plugins], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the host is not ready: ${said}`)), readyMs);
    host.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (!/ ready /.test(said)) return;
      clearTimeout(timer);
      resolve();
    });
    host.once('exit', () => reject(new Error(`the host ended: ${said}`)));
  });
  return host;
};

const runCommand = async (command: string, cwd: string, env: NodeJS.ProcessEnv) => {
  const bash = spawn('bash', ['-c', `exec 2>&1; ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(bash, 'close');
  return { output, exit: Number(code ?? -1) };
};

/**
 * Runs the commands of a transcript with bash, in a fresh folder that holds `files/`, against a host of its own, and gives the
 * transcript of what happened.
 */
export const runTranscript = async ({ plugins, steps }: Transcript): Promise<Transcript> => {
  if (!existsSync(join(root, 'packages/cli/dist/bundle/main.js'))) throw new Error('not built: run `npm run build`');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'infrakit-transcript-')));
  const home = join(folder, '.infrakit');
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'infrakit'));
  cpSync(files, folder, { recursive: true });
  const { INFRAKIT_BROKER: _, ...outer } = process.env;
  const env: NodeJS.ProcessEnv = {
    ...outer,
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    INFRAKIT_HOME: home,
    INFRAKIT_LISTEN: '127.0.0.1:0',
    INFRAKIT_MANAGER_CONTROLLERS: 'nfs',
  };
  const normalise = normaliser(home, folder);
  const host = plugins.length === 0 ? undefined : await startHost(plugins, folder, env);
  try {
    const done: Step[] = [];
    for (const step of steps) {
      const { output, exit } = await runCommand(step.command, folder, env);
      done.push({ ...step, output: normalise(output), exit });
    }
    return { plugins, steps: done };
  } finally {
    if (host !== undefined && host.exitCode === null && host.signalCode === null && host.kill('SIGTERM')) {
      await once(host, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  }
};
