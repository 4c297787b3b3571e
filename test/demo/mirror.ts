import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeBroker } from '@infrakit/core';
import { brokerOf, eventually, type Operator } from '../e2e/operator.ts';
import type { PlainMessage } from './plain-client.ts';
import { startSecondBroker } from './second-broker.ts';
import type { Stage } from './stage.ts';

/** What the chapter needs of the demo. */
export interface MirrorScene {
  readonly stage: Stage;
  readonly operator: Operator;
  readonly chapter: (title: string) => void;
  readonly step: <T>(what: string, work: () => Promise<T>) => Promise<T>;
}

const stepMs = 10_000;
const shownBytes = 110;
/** Where a mirror says which rule it is for. */
const sourceTag = 'infrakit.enrollment.sourceID';

const halfTick = 'infrakit/events/time/timer/msec/500';
/** The line of a rule in the spec. */
const ruleTo = (sinktopic: string): string => `    - { sourcetopic: ${halfTick}, sinktopic: ${sinktopic} }\n`;

/** Member events and ticks go to a second broker by a spec; then rules come, change and go by commits of the edited spec. */
export const mirrorElsewhere = async ({ stage, operator, chapter, step }: MirrorScene): Promise<void> => {
  chapter('An event repeater mirrors members and ticks to a second broker, where a plain client prints them');
  const address = await brokerOf(stage.home);
  if (address.username !== undefined || address.kind === 'tls' || address.kind === 'wss') {
    console.log('\nLeft out: on a broker with a login or TLS the spec would have to say where its secrets are.');
    return;
  }
  await using second = await startSecondBroker(stage.home);
  const { messages } = second.client;
  const file = join(stage.home, 'mirror.yml');
  const original = await readFile(join(stage.specs, 'mirror.yml'), 'utf8');
  const variables = { STACK_BROKER: describeBroker(address), SECOND_BROKER: second.url };

  const commit = async (rule: string): Promise<void> => {
    await writeFile(file, original + rule);
    if (rule !== '') console.log(`\n${rule.trimEnd()}`);
    await stage.infrakit(['local', 'mystack/repeater', 'commit', '-y', file], 0, variables);
  };
  /** Waits for a message of a topic that came after the first `from`, and prints it. */
  const arrives = async (topic: string, from = 0): Promise<PlainMessage> => {
    const found = await eventually(topic, stepMs, async () =>
      messages.slice(from).find((message) => message.topic === topic),
    );
    console.log(`\n${found.topic} ${found.payload.slice(0, shownBytes)}…`);
    return found;
  };

  console.log(`\n$ mosquitto_sub -p ${second.port} -v -t 'site1/#' &`);
  console.log(`\n$ cat mirror.yml\n${original.trimEnd()}`);
  await commit('');
  await step('a tick on the second broker', () => arrives('site1/events/time/timer/sec/1'));
  await stage.infrakit(['local', 'mystack/cattle', 'scale', '9']);
  await step('a member that joined, on the second broker', () => arrives('site1/events/group/cattle/member/joined'));
  await stage.infrakit(['local', 'mystack/repeater/site1', 'describe', '-o']);

  console.log('\nA rule is added to the spec:');
  await commit(ruleTo('site1/events/half'));
  await step('a rule was added: its ticks are there', () => arrives('site1/events/half'));
  console.log('\nThe rule is changed:');
  await commit(ruleTo('site1/events/half-a-second'));
  await step('the rule was changed: its ticks have another topic', () => arrives('site1/events/half-a-second'));
  console.log('\nThe rule is removed:');
  await commit('');
  await step('the rule was removed: of its ticks there are no more, the others go on', async () => {
    await eventually('the rule is gone', stepMs, async () => {
      const [mirror] = await operator.instances('repeater/topic', { [sourceTag]: halfTick });
      return mirror === undefined ? true : undefined;
    });
    const from = messages.length;
    await arrives('site1/events/time/timer/sec/1', from);
    const surplus = messages.slice(from).filter(({ topic }) => topic.startsWith('site1/events/half'));
    if (surplus.length > 0) throw new Error(`${surplus.length} ticks of the rule that is gone`);
  });
  await stage.infrakit(['local', 'mystack/repeater/site1', 'destroy']);
};
