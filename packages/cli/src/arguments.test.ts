import { describe, expect, test } from 'vitest';
import { readGlobalFlags } from './arguments.ts';

describe('GP-C16: global flags', () => {
  test.each([
    [['--log', '3', 'local', 'a', 'ls'], 3, ['local', 'a', 'ls']],
    [['local', '--log=5', 'a', 'ls'], 5, ['local', 'a', 'ls']],
    [['local', 'a', 'ls', '--log-debug-V', '9', '-q'], undefined, ['local', 'a', 'ls', '-q']],
    [['local', '--log-stdout', '--log-stack'], undefined, ['local']],
    [['local', 'a', 'scale', '--', '--log', '-1'], undefined, ['local', 'a', 'scale', '--', '--log', '-1']],
  ])('%j', (args, log, words) => {
    expect(readGlobalFlags(args)).toEqual({ flags: { log }, words });
  });

  test.each([[['--log']], [['--log', 'loud']], [['--log=6']]])('%j is wrong usage', (args) => {
    expect(() => readGlobalFlags(args)).toThrow('--log takes a level from 0 to 5');
  });
});
