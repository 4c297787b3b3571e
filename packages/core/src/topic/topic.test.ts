import { describe, expect, it } from 'vitest';
import { matchesFilter } from './filter.ts';
import { checkOwnTopic, checkTopic, type ParsedTopic, topicsUnder } from './topic.ts';

const topics = topicsUnder();

const table: readonly [built: string, topic: string, parsed: ParsedTopic][] = [
  [topics.process('n1'), 'infrakit/processes/n1', { kind: 'process', nonce: 'n1' }],
  [topics.plugin('nfs', 'n1.3'), 'infrakit/plugins/nfs/n1.3', { kind: 'plugin', plugin: 'nfs', incarnation: 'n1.3' }],
  [
    topics.rpc('simulator', 'text/html', 'Instance.Provision'),
    'infrakit/rpc/simulator/text%2Fhtml/Instance.Provision',
    { kind: 'rpc', plugin: 'simulator', object: 'text/html', method: 'Instance.Provision' },
  ],
  [
    topics.rpc('nfs', '', 'Controller.Commit'),
    'infrakit/rpc/nfs/-/Controller.Commit',
    { kind: 'rpc', plugin: 'nfs', object: '', method: 'Controller.Commit' },
  ],
  [topics.reply('cli-7'), 'infrakit/reply/cli-7', { kind: 'reply', clientId: 'cli-7' }],
  [
    topics.event('time', 'streams/sec/1'),
    'infrakit/events/time/streams/sec/1',
    { kind: 'event', plugin: 'time', path: 'streams/sec/1' },
  ],
  [
    topics.event('tailer', '/var/log/a b'),
    'infrakit/events/tailer/var/log/a%20b',
    { kind: 'event', plugin: 'tailer', path: 'var/log/a b' },
  ],
  [
    topics.state('group', 'cattle'),
    'infrakit/state/group/cattle',
    { kind: 'state', plugin: 'group', object: 'cattle' },
  ],
  [
    topics.member('group', 'cattle', 'i/1+#'),
    'infrakit/members/group/cattle/i%2F1%2B%23',
    { kind: 'member', plugin: 'group', group: 'cattle', instanceId: 'i/1+#' },
  ],
];

describe('topics (DESIGN §3)', () => {
  it.each(table)('%s', (built, topic, parsed) => {
    expect(built).toBe(topic);
    expect(topics.parse(topic)).toEqual(parsed);
    expect(checkOwnTopic(topic)).toBe(topic);
  });

  it.each([
    'infrakit',
    'infrakit/',
    'infrakit/processes',
    'infrakit/processes/',
    'infrakit/processes/a/b',
    'infrakit/plugins/nfs',
    'infrakit/rpc/nfs/-',
    'infrakit/rpc/nfs/-/A.B/more',
    'infrakit/events/time',
    'infrakit/events/time/a//b',
    'infrakit/state/group/a%2',
    'infrakit/other/x',
    'infrakitten/processes/n1',
    'processes/n1',
    '/infrakit/processes/n1',
  ])('%s is none of ours', (topic) => {
    expect(topics.parse(topic)).toBeUndefined();
  });

  it('stacks share a broker by prefix, of several levels too', () => {
    const other = topicsUnder('site/blue');
    expect(other.process('n')).toBe('site/blue/processes/n');
    expect(other.parse('site/blue/processes/n')).toEqual({ kind: 'process', nonce: 'n' });
    expect(other.parse('infrakit/processes/n')).toBeUndefined();
  });

  it.each(['', '/', 'a/', '/a', 'a//b', 'a/+', '#', '$SYS', 'a\0'])('%j is refused as a prefix', (prefix) => {
    expect(() => topicsUnder(prefix)).toThrow(expect.objectContaining({ code: 'TOPIC_INVALID' }));
  });

  it.each(['', '.', '/', 'a/..'])('an event at %j is refused: it needs a topic', (path) => {
    expect(() => topics.event('time', path)).toThrow(expect.objectContaining({ code: 'TOPIC_INVALID' }));
  });

  it('each filter matches the topics of its family and no others', () => {
    const { filters } = topics;
    const matched = (filter: string): string[] =>
      table.map(([topic]) => topic).filter((topic) => matchesFilter(filter, topic));
    expect(matched(filters.processes)).toEqual(['infrakit/processes/n1']);
    expect(matched(filters.plugins())).toEqual(['infrakit/plugins/nfs/n1.3']);
    expect(matched(filters.plugins('efs'))).toEqual([]);
    expect(matched(filters.rpc('nfs'))).toEqual(['infrakit/rpc/nfs/-/Controller.Commit']);
    expect(matched(filters.events('time'))).toEqual(['infrakit/events/time/streams/sec/1']);
    expect(matched(filters.events())).toHaveLength(2);
    expect(matched(filters.states('group'))).toEqual(['infrakit/state/group/cattle']);
    expect(matched(filters.members('group', 'cattle'))).toEqual(['infrakit/members/group/cattle/i%2F1%2B%23']);
    expect(matched(filters.members('group', 'pets'))).toEqual([]);
    expect(filters.members('group', 'cattle')).toBe('infrakit/members/group/cattle/+');
  });
});

describe('topic names (MQTT 3.1.1 §4.7)', () => {
  it.each(['a', '/', '//', '/a', 'a/', 'a//b', ' ', '$SYS/x', 'é🦊', 'a'.repeat(65_535), 'é'.repeat(32_767)])(
    'accepts %.20s: other people have empty levels too',
    (topic) => {
      expect(checkTopic(topic)).toBe(topic);
    },
  );

  it.each([
    ['', '[MQTT-4.7.3-1]'],
    ['a\0b', '[MQTT-4.7.3-2]'],
    ['a'.repeat(65_536), '[MQTT-4.7.3-3]'],
    ['é'.repeat(32_768), '[MQTT-4.7.3-3]'],
    ['🦊'.repeat(16_384), '[MQTT-4.7.3-3]'],
    ['a/+', '[MQTT-3.3.2-2]'],
    ['a#', '[MQTT-3.3.2-2]'],
    ['a\ud83e', '[MQTT-1.5.3-1]'],
  ])('refuses %.20j by %s', (topic) => {
    expect(() => checkTopic(topic)).toThrow(expect.objectContaining({ code: 'TOPIC_INVALID' }));
  });

  it.each(['/a', 'a/', 'a//b', '/'])('%s has an empty level and is none of ours', (topic) => {
    expect(() => checkOwnTopic(topic)).toThrow(expect.objectContaining({ code: 'TOPIC_INVALID' }));
  });
});
