import { expect, test } from 'vitest';
import { tagWords } from './tag-words.ts';

test('DESIGN §6: a malformed tag on the command line is wrong usage and names its flag; values keep their =', () => {
  expect(tagWords(['a=b=c', 'd='])).toEqual({ a: 'b=c', d: '' });
  expect(() => tagWords(['c'], '--tags')).toThrow(
    expect.objectContaining({ code: 'ARGUMENT_INVALID', message: expect.stringMatching(/^--tags: .*"c"/) }),
  );
});
