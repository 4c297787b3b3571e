import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatPath, parsePath } from '../name/path.ts';
import { topicsUnder } from './topic.ts';

const topics = topicsUnder();
const name = fc.string({ unit: fc.constantFrom('a', '/', '+', '#', '.', '-', ' ', '%', '$', '🦊') });

it('what is built is parsed back, whatever the names (DESIGN §3)', () => {
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      expect(topics.parse(topics.rpc(a, b, c))).toEqual({ kind: 'rpc', plugin: a, object: b, method: c });
      expect(topics.parse(topics.member(a, b, c))).toEqual({ kind: 'member', plugin: a, group: b, instanceId: c });
      expect(topics.parse(topics.state(a, b))).toEqual({ kind: 'state', plugin: a, object: b });
      expect(topics.parse(topics.plugin(a, b))).toEqual({ kind: 'plugin', plugin: a, incarnation: b });
    }),
  );
});

it('an event path comes back clean, without its leading slash (GP §3.2)', () => {
  const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '+', ' ', '🦊') });
  fc.assert(
    fc.property(path, (text) => {
      const cleaned = formatPath(parsePath(text));
      fc.pre(cleaned !== '.' && cleaned !== '/');
      const topic = topics.event('p', text);
      expect(topics.parse(topic)).toEqual({ kind: 'event', plugin: 'p', path: cleaned.replace(/^\//, '') });
    }),
  );
});
