import { setRealStage } from '../e2e/real-stage.ts';

/** How long a step may take, in ms. */
const stepMs = 15_000;
/**
 * From the death of a container until another one is there, and its export (issue 7). A machine that is busy with other things may
 * take so many times as long as its engine needs to make a container for somebody else.
 */
const [replacedMs, engineTimes] = [2_000, 4];
const summary: string[] = [];

const chapter = (title: string): void => console.log(`\n\n── ${title} ${'─'.repeat(Math.max(0, 100 - title.length))}`);

/** Waits until `check` finds nothing wrong; the error says what was still wrong, and in which step. */
const step = async (what: string, check: () => string | null): Promise<number> => {
  const startedMs = performance.now();
  for (;;) {
    const wrong = check();
    const tookMs = Math.round(performance.now() - startedMs);
    if (wrong === null) {
      summary.push(`${String(tookMs).padStart(6)} ms  ${what}`);
      return tookMs;
    }
    if (tookMs > stepMs) throw new Error(`the step "${what}" did not come about: ${wrong}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const show = (line: string, output: string): void => console.log(`\n$ ${line}\n${output.trimEnd()}`);

await using stage = await setRealStage();
const { podman, containers, wrongWith } = stage;

const infrakit = (...args: readonly string[]): void => show(`infrakit ${args.join(' ')}`, stage.infrakit(...args));

/** Waits for the members' topics as well, and shows what the real tools say. */
const showAll = async (count: number): Promise<void> => {
  let topics = '';
  await step(`${count} member topics`, () => {
    topics = stage.memberTopics();
    const found = topics.split('\n').filter(Boolean).length;
    return found === count ? null : `${found} topics`;
  });
  show('podman ps', podman.run('ps', '--format', 'table {{.ID}} {{.Image}} {{.Status}} {{.Names}}'));
  show('exportfs -s', stage.exportsTable());
  show(`mosquitto_sub ${stage.subscribe.join(' ')}`, topics);
};

/** How long the engine takes to make one container by itself, in ms. */
const engineMs = (): number => {
  const startedMs = performance.now();
  const id = podman.run('run', '-d', podman.image, '/bin/sleep', '60').trim();
  const tookMs = Math.round(performance.now() - startedMs);
  podman.run('rm', '-f', '-t', '0', id);
  return tookMs;
};

try {
  chapter('One process on a real broker, with the real engine and the real exports');
  await stage.startHost();

  chapter('Three HTTP containers, each may mount the volume by its address');
  stage.writeSpecs({ size: 3, note: 'first' });
  infrakit('local', 'mystack/groups', 'commit', '-y', 'web.yml');
  infrakit('local', 'mystack/nfs', 'commit', '-y', 'rule.yml');
  await step('3 containers, 3 exports', () => wrongWith(3));
  await showAll(3);

  chapter('Scale to 6');
  infrakit('local', 'mystack/web', 'scale', '6');
  await step('6 containers, 6 exports', () => wrongWith(6));
  await showAll(6);

  chapter('One container is killed by hand');
  const ownMs = engineMs();
  const limitMs = Math.max(replacedMs, engineTimes * ownMs);
  const [victim] = containers();
  show(`podman kill ${victim?.id.slice(0, 12)}`, podman.run('kill', victim?.id ?? ''));
  const tookMs = await step('replaced, its export gone, the new one there', () =>
    containers().some(({ id }) => id === victim?.id) ? 'it still runs' : wrongWith(6),
  );
  if (tookMs > limitMs) {
    throw new Error(
      `replacing a container took ${tookMs} ms, more than ${limitMs}; the engine makes one in ${ownMs} ms`,
    );
  }
  await showAll(6);

  chapter('Another image: members are replaced one by one, the exports follow');
  podman.run('tag', podman.image, 'localhost/bb:2');
  stage.writeSpecs({ size: 6, note: 'second', image: 'localhost/bb:2' });
  infrakit('local', 'mystack/groups', 'commit', '-y', 'web.yml');
  await step('6 new containers, 6 exports', () => wrongWith(6, 'second'));
  await showAll(6);

  chapter('Scale to 2, then destroy');
  infrakit('local', 'mystack/web', 'scale', '2');
  await step('2 containers, 2 exports', () => wrongWith(2));
  await showAll(2);
  infrakit('local', 'mystack/web', 'destroy');
  await step('no container, no export', () => wrongWith(0));
  await showAll(0);

  const wrong = stage.wrongWithForeign();
  if (wrong !== null) throw new Error(wrong);
  chapter('Summary: the foreign container and export are as they were');
  console.log(summary.join('\n'));
} catch (error) {
  console.error('\ndemo:real: it failed:', error);
  console.error(`\nThe host said:\n${stage.hostSaid()}`);
  process.exitCode = 1;
}
