import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCampaign } from './campaign.ts';
import { type ModuleCommand, runModules } from './modules.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'infrakit-modules-'));
  for (const file of ['main.ts', 'plan.ts', 'bus.ts', 'bus.test.ts', 'notes.md']) writeFileSync(join(folder, file), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs a command whose modules are their own names; `bus` fails. */
const run = async (...args: readonly string[]) => {
  const out: string[] = [];
  const err: string[] = [];
  const command: ModuleCommand<string, 'seed'> = {
    folder: pathToFileURL(`${folder}/`),
    help: 'how to use it',
    options: { seed: { byDefault: 7, least: 0 } },
    load: async (name) => name,
    run: async (name, { seed }) => {
      if (name === 'bus') throw new Error('no bus');
      return { ran: name, seed };
    },
    facts: { machine: 'm' },
  };
  const exit = await runModules(command, args, { out: (line) => out.push(line), err: (line) => err.push(line) });
  return { exit, out: out.join('\n'), err: err.join('\n') };
};

describe('npm run bench and npm run chaos', () => {
  test('run the module named and print its facts as JSON', async () => {
    const { exit, out } = await run('plan', '--seed', '12');
    expect({ exit, out: JSON.parse(out) }).toEqual({
      exit: 0,
      out: { machine: 'm', seed: 12, results: { plan: { ran: 'plan', seed: 12 } } },
    });
  });

  test('run every module by default; a failure does not keep the others from running and exits 1', async () => {
    const { exit, out } = await run();
    expect({ exit, out: JSON.parse(out) }).toEqual({
      exit: 1,
      out: {
        machine: 'm',
        seed: 7,
        results: { plan: { ran: 'plan', seed: 7 } },
        failures: { bus: expect.stringContaining('no bus') },
      },
    });
  });

  test.each([
    [['nosuch'], 'unknown: nosuch; there are: bus, plan'],
    [['--seed', 'x'], '--seed must be a whole number from 0, not x'],
    [['--seed', '1.5'], '--seed must be a whole number from 0, not 1.5'],
  ])('%j is wrong usage and runs nothing', async (args, sentence) => {
    expect(await run(...args)).toEqual({ exit: 64, out: '', err: sentence });
  });

  test('an unknown option is wrong usage', async () => {
    expect(await run('--sed', '1')).toMatchObject({ exit: 64, out: '', err: expect.stringContaining("'--sed'") });
  });

  test('-h lists the names', async () => {
    expect(await run('-h')).toEqual({ exit: 0, out: 'how to use it\n\nNames: bus, plan', err: '' });
  });
});

describe('a chaos campaign', () => {
  test('that fails names its seed and keeps the cause', async () => {
    const failure = new Error('lost a member');
    const campaign = { run: () => Promise.reject(failure) };
    await expect(runCampaign(campaign, { seed: 5, seconds: 1 })).rejects.toMatchObject({
      message: 'repeat it with --seed 5',
      cause: failure,
    });
  });

  test('that never ends is aborted and fails', async () => {
    const signals: AbortSignal[] = [];
    const campaign = {
      run: ({ signal }: { signal: AbortSignal }) => {
        signals.push(signal);
        return new Promise<never>(() => {});
      },
    };
    await expect(runCampaign(campaign, { seed: 5, seconds: 0 }, 1, 1)).rejects.toMatchObject({
      cause: { message: 'it did not end within 0 s and 1 ms' },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('that is late ends what it has started before it fails: no service is left behind', async () => {
    let running = 0;
    const campaign = {
      run: async ({ signal }: { signal: AbortSignal }) => {
        running += 1;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        throw new Error('it was cut short');
      },
    };
    await expect(runCampaign(campaign, { seed: 5, seconds: 0 }, 1)).rejects.toMatchObject({
      cause: { message: 'it did not end within 0 s and 1 ms' },
    });
    expect(running).toBe(0);
  });
});
