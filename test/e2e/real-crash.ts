import { setTimeout as delay } from 'node:timers/promises';
import { type RealStage, setRealStage } from './real-stage.ts';

/** Who is killed in a round. */
const victims = ['infrakit', 'podman', 'both'] as const;
type Victim = (typeof victims)[number];

/** What a round did, and how long everything took to be as it should be once all ran again and the command had ended, in ms. */
export interface RealRound {
  readonly victim: Victim;
  readonly from: number;
  readonly to: number;
  readonly killedAfterMs: number;
  readonly awayMs: number;
  readonly recoveredMs: number;
}

const largest = 5;
/** A scale of this size takes less. */
const longestMs = 1_500;
const longestAwayMs = 1_000;
const recoveryTimeoutMs = 30_000;

/** Waits until nothing is wrong; the error says what still was, and what the hosts said. */
export const untilRight = async (
  { hostSaid, podman, infrakit }: RealStage,
  what: string,
  check: () => string | null,
  timeoutMs = recoveryTimeoutMs,
): Promise<number> => {
  const startedMs = performance.now();
  for (;;) {
    const wrong = check();
    if (wrong === null) return Math.round(performance.now() - startedMs);
    if (performance.now() - startedMs > timeoutMs) {
      const facts = [podman.run('ps', '--all'), infrakit('local', 'mystack/web', 'describe'), hostSaid().slice(-6_000)];
      throw new Error(`${what}: ${wrong}\n${facts.join('\n')}`);
    }
    await delay(50);
  }
};

/** The stage with a host, the group at `size` and the rule in force, everything as it should be. */
export const playRealJob = async (size: number): Promise<RealStage> => {
  // What a killed host left half made goes away within seconds instead of a minute.
  const stage = await setRealStage({ INFRAKIT_DOCKER_CLEAN_UP_AFTER: '2s' });
  try {
    await stage.startHost();
    stage.writeSpecs({ size, note: 'first' });
    stage.infrakit('local', 'mystack/groups', 'commit', '-y', 'web.yml');
    stage.infrakit('local', 'mystack/nfs', 'commit', '-y', 'rule.yml');
    await untilRight(stage, 'the main job on real parts', () => stage.wrongWith(size));
    return stage;
  } catch (error) {
    await stage[Symbol.asyncDispose]();
    throw error;
  }
};

/** The size that the group is to have, by the command line. */
const sizeOf = ({ infrakit }: RealStage): number => Number(/\d+/.exec(infrakit('local', 'mystack/web', 'scale'))?.[0]);

/**
 * Scales to a random size and kills infrakit, the engine's service or both at a random moment of that. They are started again;
 * then everything is as it should be: as many containers as the size says, each exported to once, nothing else of ours, and
 * what is foreign as it was (issue 7).
 */
const realRound = async (stage: RealStage, victim: Victim, random: () => number): Promise<RealRound> => {
  const { podman } = stage;
  const from = sizeOf(stage);
  const to = Math.floor(random() * (largest + 1));
  const killedAfterMs = Math.round(random() * longestMs);
  const awayMs = Math.round(random() * longestAwayMs);
  const round = { victim, from, to, killedAfterMs, awayMs };
  const scaling = stage.begin('local', 'mystack/web', 'scale', String(to));
  await delay(killedAfterMs);
  await Promise.all([
    ...(victim !== 'podman' ? [stage.endHost('SIGKILL')] : []),
    ...(victim !== 'infrakit' ? [podman.stop('SIGKILL')] : []),
  ]);
  await delay(awayMs);
  await Promise.all([
    ...(victim !== 'podman' ? [stage.startHost()] : []),
    ...(victim !== 'infrakit' ? [podman.start()] : []),
  ]);
  // A call that a killed host had taken is given up at its deadline.
  const isAnswered = await scaling;
  const startedMs = performance.now();
  const size = sizeOf(stage);
  if (size !== to && (isAnswered || size !== from)) {
    throw new Error(`the size is ${size}, answered: ${isAnswered}: ${JSON.stringify(round)}`);
  }
  const check = (): string | null => stage.wrongWith(size) ?? stage.leftOver(size) ?? stage.wrongWithForeign();
  await untilRight(stage, JSON.stringify(round), check);
  const recoveredMs = Math.round(performance.now() - startedMs);
  await untilRight(stage, JSON.stringify(round), () => {
    const topics = stage.memberTopics().split('\n').filter(Boolean).length;
    return topics === size ? null : `${topics} of ${size} members are told`;
  });
  // Listing the topics took a second: time for an event or a cycle that should not come.
  const later = check();
  if (later !== null) throw new Error(`it did not stay so: ${later}: ${JSON.stringify(round)}`);
  return { ...round, recoveredMs };
};

/** So many rounds on one stage; infrakit and the engine's service take turns to be killed, then both. */
export const realRounds = async (
  stage: RealStage,
  count: number,
  random: () => number,
  signal?: AbortSignal,
): Promise<readonly RealRound[]> => {
  const rounds: RealRound[] = [];
  while (rounds.length < count) {
    signal?.throwIfAborted();
    const round = await realRound(stage, victims[rounds.length % victims.length] ?? 'both', random);
    rounds.push(round);
  }
  return rounds;
};
