import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHere, temporaryHome } from '../../../test/e2e/hosts.ts';
import { startMosquitto } from '../../../test/integration/mosquitto.ts';
import { requireProgram } from '../../../test/programs.mjs';
import { runProgram } from './program.ts';

/** A command as the page shows it, and the lines that it shows of its answer. */
interface Shown {
  readonly command: string;
  readonly lines: readonly string[];
}

const blocksOf = (page: string, language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) => block);

const commandsOf = (block: string): Shown[] =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...lines] = part.trimEnd().split('\n');
      return { command, lines: lines.filter((line) => line !== '…') };
    });

/** Words of a shell: by blanks, with single quotes around those that have some. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Without what is another one each time. */
const common = (line: string): string =>
  line
    .replace(/"Timestamp":"[^"]*"/, '"Timestamp"')
    .replace(/"Nonce":"[^"]*","Seq":\d+/, '"Nonce"')
    .replace(/\d+ messages, \d+ bytes, lag \d+ ms/, 'so many messages')
    .trimEnd();

test('GP-R17: what the page of the repeater shows can be typed, and answers as it says', async () => {
  const page = await readFile(new URL('../../repeater/README.md', import.meta.url), 'utf8');
  await using home = await temporaryHome();
  await using sink = await startMosquitto();
  const here = (text: string): string =>
    text.replaceAll(':1884', `:${sink.port}`).replaceAll('-p 1884', `-p ${sink.port}`);
  const spec = join(home.path, 'out.yml');
  await writeFile(spec, here(blocksOf(page, 'yaml')[0] ?? ''));
  const host = await startHere(['manager:mystack', 'group', 'time', 'repeater'], {
    home: home.path,
    pluginOptions: { mystack: { Controllers: ['repeater'] } },
  });

  const infrakit = async (words: readonly string[], signal: AbortSignal): Promise<string> => {
    const said = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof said) => ({
      write: (text: string) => {
        said[name] += text;
      },
    });
    const exit = await runProgram(
      words.map((word) => (word === 'out.yml' ? spec : word)),
      {
        streams: { stdout: stream('stdout'), stderr: stream('stderr'), stdin: async () => '' },
        env: { INFRAKIT_HOME: home.path },
        signal,
      },
    );
    expect({ words, exit, stderr: exit === 0 ? '' : said.stderr }).toEqual({ words, exit: 0, stderr: '' });
    return said.stdout;
  };
  const mosquittoSub = (words: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(requireProgram('mosquitto_sub'), words, { timeout: 30_000 }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      );
    });

  const background: Promise<string>[] = [];
  const abort = new AbortController();
  const run = async (command: string): Promise<string> => {
    const [program = '', ...words] = wordsOf(here(command));
    if (program === 'mosquitto_sub') return mosquittoSub(words);
    if (words.at(-1) !== '&') return infrakit(words, AbortSignal.timeout(20_000));
    background.push(infrakit(words.slice(0, -1), abort.signal));
    // What it is asked next says so while it is not there yet.
    await expect
      .poll(() => infrakit(['util', 'event-repeater', 'manage', 'get'], abort.signal).catch(() => ''), {
        timeout: 30_000,
      })
      .toBe('[]\n');
    return '';
  };

  let count = 0;
  for (const block of blocksOf(page, 'console')) {
    for (const { command, lines } of commandsOf(block)) {
      // The host runs already, in this process.
      if (command.startsWith('export ') || command.startsWith('infrakit plugin start')) continue;
      const answer = (await run(command)).split('\n').map(common);
      for (const line of lines) expect(answer, command).toContain(common(line));
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(9);
  abort.abort();
  await Promise.all(background);
  await host.stop();
}, 120_000);
