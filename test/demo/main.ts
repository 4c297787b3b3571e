import { once } from 'node:events';
import { readBrokerRecord } from '@infrakit/host';
import { brokerOf, connectOperator, eventually, type Operator } from '../e2e/operator.ts';
import { environment, plugins as mainPlugins } from '../e2e/specs.ts';
import { follows, hasMembers } from '../e2e/stack.ts';
import { mirrorElsewhere } from './mirror.ts';
import { type PlainClient, subscribePlainly } from './plain-client.ts';
import { binFolder, type Stage, setStage } from './stage.ts';

/** How long a step may take, in ms. */
const stepMs = 10_000;
const shownRows = 4;
/** Soon enough for people to see that members went away behind the group's back; it is 10 s by default. */
const variables = {
  INFRAKIT_MANAGER_CONTROLLERS: `${environment.INFRAKIT_MANAGER_CONTROLLERS},repeater`,
  INFRAKIT_GROUP_POLL_INTERVAL: '1s',
};
const plugins = [...mainPlugins, 'repeater'];

const summary: string[] = [];

/** Shows what comes next, waits for it, and remembers how long it took; the error names the step. */
const step = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  const startedMs = performance.now();
  try {
    const result = await work();
    summary.push(`${String(Math.round(performance.now() - startedMs)).padStart(6)} ms  ${what}`);
    return result;
  } catch (cause) {
    throw new Error(`the step "${what}" did not end as it should`, { cause });
  }
};

const chapter = (title: string): void => console.log(`\n\n── ${title} ${'─'.repeat(Math.max(0, 100 - title.length))}`);

/** The TCP address of the broker, if it has one that a plain client can use. */
const plainAddress = async (home: string): Promise<{ readonly host: string; readonly port: number } | undefined> => {
  const url = (await readBrokerRecord(home))?.url;
  if (url === undefined || url === null || !url.startsWith('mqtt://')) return undefined;
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port || 1883) };
};

const start = async ({ startHost, hostLog, home }: Stage): Promise<Operator> => {
  const host = startHost(plugins);
  await eventually('the host is ready', stepMs, async () => {
    if (host.exitCode !== null) throw new Error('the host ended');
    return (await readBrokerRecord(home)) !== undefined && / ready( |$)/m.test(await hostLog()) ? true : undefined;
  }).catch(async (cause: unknown) => {
    throw new Error(`the host is not ready:\n${await hostLog()}`, { cause });
  });
  return connectOperator(await brokerOf(home));
};

const commitEverything = async ({ infrakit }: Stage, operator: Operator): Promise<void> => {
  chapter('Two groups: miners in YAML, cattle in the old JSON with a template comment on top');
  await infrakit(['local', 'mystack/groups', 'commit', '-y', 'miners.yml'], 8);
  await infrakit(['local', 'mystack/groups', 'commit-group', 'cattle.json.tmpl']);
  await step('5 miners and 10 cattle are alive', async () => {
    await hasMembers(operator, 'miners', 5);
    await hasMembers(operator, 'cattle', 10);
  });
  await infrakit(['local', 'mystack/miners', 'ls']);
  await infrakit(['local', 'mystack/cattle', 'ls'], shownRows);
  chapter('An authorisation in nfs-auth/disk for each of the cattle');
  await infrakit(['local', 'mystack/nfs', 'commit', '-y', 'cattle-nfs.yml'], 8);
  await step('10 authorisations', () => follows(operator, 10, stepMs));
  await infrakit(['local', 'nfs-auth/disk', 'describe', '-p'], shownRows);
  await infrakit(['local', 'mystack/nfs', 'describe', '-o'], shownRows);
};

const scale = async ({ infrakit }: Stage, operator: Operator): Promise<void> => {
  chapter('Scale cattle 10 → 20 → 8: the authorisations follow');
  for (const size of [20, 8]) {
    await infrakit(['local', 'mystack/cattle', 'scale', String(size)]);
    await step(`the sink has ${size} after the scale was answered`, () => follows(operator, size, stepMs));
    await infrakit(['local', 'nfs-auth/disk', 'describe', '-q'], shownRows);
  }
  await step('miners caused no authorisation', async () => {
    const [miners, enrolled] = [await operator.members('miners'), await operator.enrolled()];
    if (miners.length !== 5 || miners.some((id) => enrolled.includes(id))) throw new Error(enrolled.join(' '));
  });
};

const holdAndApprove = async ({ infrakit }: Stage, operator: Operator): Promise<void> => {
  chapter('Five of eight vanish and nobody said why: the rule is held until a person approves');
  await infrakit(['local', 'mystack/cattle', 'hold', '--reason', 'so that it makes no new ones']);
  const members = await operator.members('cattle');
  await infrakit(['local', 'simulator/compute', 'destroy', ...members.slice(0, 5)]);
  await step('the rule is held: 5 unexplained removals are too many', () =>
    eventually('a held rule', stepMs, async () =>
      JSON.stringify(await operator.describe('mystack/nfs')).includes('"held":') ? true : undefined,
    ),
  );
  await infrakit(['local', 'mystack/nfs', 'describe', '-o']);
  const before = await operator.enrolled();
  if (before.length !== 8) throw new Error(`a held rule destroyed something: ${before.length} are left of 8`);
  await infrakit(['local', 'mystack/nfs/cattle-nfs', 'approve']);
  await step('approved: 3 authorisations are left', () => follows(operator, 3, stepMs));
  await infrakit(['local', 'mystack/cattle', 'resume']);
  await step('the group fills up to 8 again, and the sink', () => follows(operator, 8, stepMs));
  await infrakit(['local', 'nfs-auth/disk', 'describe', '-q'], shownRows);
};

const showPlain = ({ messages }: PlainClient): void => {
  chapter('What a plain MQTT client saw meanwhile');
  const families = new Map<string, number>();
  for (const { topic } of messages) {
    const [, family, plugin, object, , event] = topic.split('/');
    const name =
      family === 'events' && plugin === 'group' ? `events/group/${object}/member/${event}` : `${family}/${plugin}`;
    families.set(name, (families.get(name) ?? 0) + 1);
  }
  for (const [name, count] of [...families].sort()) {
    if (/^(events|members|state)\//.test(name)) console.log(`${String(count).padStart(6)} × infrakit/${name}/…`);
  }
  const joined = messages.find(({ topic }) => topic.endsWith('/member/joined'));
  const left = messages.find(({ topic }) => topic.endsWith('/cattle/member/left'));
  for (const message of [joined, left]) if (message !== undefined) console.log(`\n${message.topic} ${message.payload}`);
};

const showStay = async ({ home }: Stage): Promise<void> => {
  const address = await plainAddress(home);
  const where = address === undefined ? '' : `-h ${address.host} -p ${address.port} `;
  console.log(`\nIt goes on until Ctrl-C. In a second terminal:\n
export PATH=${binFolder}:$PATH INFRAKIT_HOME=${home}
infrakit local
infrakit local mystack/cattle scale 12
infrakit local nfs-auth/disk describe
mosquitto_sub ${where}-v -t 'infrakit/events/#'
mosquitto_sub ${where}-t 'infrakit/members/group/cattle/+' --retained-only -W 1`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
};

const play = async (stage: Stage, isStaying: boolean): Promise<void> => {
  chapter('A fresh home and one process');
  await using operator = await step('the host is ready', () => start(stage));
  const address = await plainAddress(stage.home);
  const plain = address && (await subscribePlainly(address.host, address.port, 'infrakit/#'));
  await stage.infrakit(['local'], 6);
  await commitEverything(stage, operator);
  await scale(stage, operator);
  await holdAndApprove(stage, operator);
  await mirrorElsewhere({ stage, operator, chapter, step });
  if (plain !== undefined) showPlain(plain);
  plain?.close();
  chapter('Summary');
  console.log(summary.join('\n'));
  if (isStaying) await showStay(stage);
};

const startedMs = performance.now();
const stage = await setStage(variables);
try {
  const stay = process.argv.slice(2).includes('--stay');
  await play(stage, stay);
  if (!stay) console.log(`\nAll of it in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s.`);
} catch (error) {
  console.error('\ndemo: it failed:', error);
  console.error(`\nThe host said:\n${await stage.hostLog()}`);
  process.exitCode = 1;
} finally {
  await stage.clear();
}
