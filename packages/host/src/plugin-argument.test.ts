import { describe, expect, it } from 'vitest';
import { checkNames, parsePluginArgument } from './plugin-argument.ts';

describe('what `plugin start` is told (GP §4.4)', () => {
  it.each([
    ['group', { kind: 'group', name: undefined }],
    ['manager:mystack', { kind: 'manager', name: 'mystack' }],
    ['simulator:nfs-auth=inproc', { kind: 'simulator', name: 'nfs-auth' }],
    ['npm:notes', { kind: 'npm:notes', name: undefined }],
    ['npm:@some/notes:pad', { kind: 'npm:@some/notes', name: 'pad' }],
    ['vanilla:a:b', { kind: 'vanilla', name: 'a:b' }],
  ])('%s', (text, expected) => {
    expect(parsePluginArgument(text)).toEqual(expected);
  });

  it.each([
    ['', /the kind is empty/],
    [':x', /the kind is empty/],
    ['npm:', /the kind is empty/],
    ['npm:@some/notes:a/b', /a name has no "\/"/],
    ['group:', /the name after ":" is empty/],
    ['group:a/b', /a name has no "\/"/],
    ['group=os', /all plugins run in the process that starts them/],
    ['group:x=inproc=y', /all plugins run in the process/],
  ])('%j is refused in one sentence', (text, sentence) => {
    expect(() => parsePluginArgument(text)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringMatching(sentence) }),
    );
  });

  it('two plugins of one name are refused, whatever their kinds', () => {
    expect(() =>
      checkNames([
        { kind: 'group', name: 'x' },
        { kind: 'vanilla', name: 'y' },
      ]),
    ).not.toThrow();
    expect(() =>
      checkNames([
        { kind: 'group', name: 'x' },
        { kind: 'vanilla', name: 'x' },
      ]),
    ).toThrow(/two plugins would be named x/);
  });
});
