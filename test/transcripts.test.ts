import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runTranscript } from './transcripts/run.ts';
import { formatTranscript, parseTranscript } from './transcripts/transcript.ts';

const folder = fileURLToPath(new URL('transcripts', import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));
/** A transcript is many processes, one after the other, on whatever machine this is. */
const timeoutMs = 180_000;

describe('the command line prints what test/transcripts shows; UPDATE=1 rewrites it', () => {
  test.each(names)(
    '%s',
    async (name) => {
      const path = `${folder}/${name}`;
      const expected = readFileSync(path, 'utf8');
      const found = formatTranscript(await runTranscript(parseTranscript(expected)));
      if (process.env.UPDATE === '1') writeFileSync(path, found);
      else expect(found).toBe(expected);
    },
    timeoutMs,
  );
});

test('a transcript is written as it is read', () => {
  const text = '% infrakit plugin start group\n# a note\n$ infrakit a | cat\nx\n\ny\n? 0\n\n# another\n$ false\n? 1\n';
  expect(formatTranscript(parseTranscript(text))).toBe(text);
  expect(() => parseTranscript('$ infrakit\nx\n')).toThrow('no exit code after: infrakit');
  expect(() => parseTranscript('infrakit\n')).toThrow('not a line of a transcript: infrakit');
});
