import { describe, expect, it } from 'vitest';
import { textLine } from './text-log.ts';

const line = (facts: Record<string, unknown>): string => `${JSON.stringify(facts)}\n`;

describe('a line of the log for people', () => {
  it('is time, level, message and facts', () => {
    const text = textLine(
      line({
        level: 30,
        time: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
        plugin: 'nfs',
        n: 3,
        what: 'a b',
        msg: 'plugin started',
      }),
    );
    expect(text).toBe('03:04:05.006 info  plugin started plugin=nfs n=3 what="a b"\n');
  });

  it('tells an error by its message, in one line', () => {
    const err = { type: 'Error', message: 'no\nroom', stack: 'Error: no room\n  at x' };
    expect(textLine(line({ level: 50, time: 0, err, msg: 'failed' }))).toBe(
      '00:00:00.000 error failed err="no\\nroom"\n',
    );
  });

  it('leaves anything else as it is', () => {
    expect(textLine('noise\n')).toBe('noise\n');
    expect(textLine('{"a":1}\n')).toBe('{"a":1}\n');
  });
});
