import { StringDecoder } from 'node:string_decoder';

/** Text in pieces to whole lines; what has no line break yet waits. */
export interface LineSplitter {
  readonly push: (bytes: Buffer) => string[];
  /** What has no line break is a line when nothing can follow it. */
  readonly end: () => string[];
  /** Forgets the unfinished line: the file began anew. */
  readonly reset: () => void;
}

/** Lines longer than this are cut, so that a file without line breaks cannot grow the process. */
const maxLine = 256 * 1024;

/** A splitter at `\n` or `\r\n`; characters cut apart by a piece's end are put together again. */
export const lineSplitter = (): LineSplitter => {
  let decoder = new StringDecoder('utf8');
  let rest = '';
  const reset = (): void => {
    decoder = new StringDecoder('utf8');
    rest = '';
  };
  return {
    push: (bytes) => {
      const lines = (rest + decoder.write(bytes)).split('\n');
      rest = lines.pop() ?? '';
      while (rest.length > maxLine) {
        lines.push(rest.slice(0, maxLine));
        rest = rest.slice(maxLine);
      }
      return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    },
    end: () => {
      const last = rest + decoder.end();
      reset();
      return last === '' ? [] : [last];
    },
    reset,
  };
};
