import type { AedesPublishPacket } from 'aedes';
import { expect, test } from 'vitest';
import { brokerEmitter, type Listener } from './broker-emitter.ts';

const packet = (topic: string): AedesPublishPacket => ({
  cmd: 'publish',
  topic,
  payload: Buffer.from('x'),
  qos: 0,
  retain: false,
  dup: false,
  brokerId: 'b',
  brokerCounter: 1,
});

test('who listens to a topic gets each message once, and the sender is done when the last of them is', () => {
  const { mq, isHeard } = brokerEmitter();
  const seen: string[] = [];
  const ends: (() => void)[] = [];
  const slow: Listener = ({ topic }, done) => {
    seen.push(`slow ${topic}`);
    ends.push(done);
  };
  const quick: Listener = ({ topic }, done) => {
    seen.push(`quick ${topic}`);
    done();
  };
  mq.on('a/+', slow);
  mq.on('a/+', slow);
  mq.on('#', quick);
  let isDone = false;
  mq.emit(packet('a/b'), () => {
    isDone = true;
  });
  expect(seen.sort()).toEqual(['quick a/b', 'slow a/b']);
  expect(isDone).toBe(false);
  ends[0]?.();
  expect(isDone).toBe(true);
  mq.removeListener('#', quick);
  expect([isHeard('a/b'), isHeard('b')]).toEqual([true, false]);
});

test('topics of the broker itself are heard by who names them, not by wildcards [MQTT-4.7.2-1]', () => {
  const { mq, isHeard, onEach } = brokerEmitter();
  const all: string[] = [];
  onEach(({ topic }) => all.push(topic));
  mq.on('#', (_, done) => done());
  expect(isHeard('$SYS/uptime')).toBe(false);
  mq.on('$SYS/#', (_, done) => done());
  expect(isHeard('$SYS/uptime')).toBe(true);
  mq.emit(packet('$SYS/uptime'));
  expect(all).toEqual(['$SYS/uptime']);
});

test('a closed emitter says so to the sender', () => {
  const { mq } = brokerEmitter();
  mq.close(() => undefined);
  let failure: Error | undefined;
  mq.emit(packet('a'), (error) => {
    failure = error;
  });
  expect(failure?.message).toBe('the broker has stopped');
});
