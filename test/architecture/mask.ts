/** What may stand before a slash that starts a regular expression; after anything else a slash divides. */
const beforeRegex =
  /(?:^|[([{,;=:!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield))\s*$/;

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** The end (exclusive) of a quoted string that starts at `start`. */
const endOfString = (source: string, start: number): number => {
  const quote = source[start];
  let at = start + 1;
  while (at < source.length && source[at] !== quote && source[at] !== '\n') at += source[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, source.length);
};

/** The end (exclusive) of a regular expression literal that starts at `start`, without its flags. */
const endOfRegex = (source: string, start: number): number => {
  let inClass = false;
  for (let at = start + 1; at < source.length; at += 1) {
    const char = source[at];
    if (char === '\\') at += 1;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if ((char === '/' && !inClass) || char === '\n') return at + 1;
  }
  return source.length;
};

const endOfComment = (source: string, start: number): number => {
  const end = source[start + 1] === '/' ? source.indexOf('\n', start) : source.indexOf('*/', start + 2) + 2;
  return end < start + 2 ? source.length : end;
};

/**
 * TypeScript source with comments and the contents of strings, templates and regular expressions blanked. Length and lines stay
 * as they are, so that an offset means the same place in both; quotes stay, and so does code inside `${}`.
 */
export const mask = (source: string): string => {
  let out = '';
  let at = 0;
  /** Open braces of code: true where the brace is the `${` of a template. */
  const braces: boolean[] = [];
  const copy = (end: number): void => {
    out += source.slice(at, end);
    at = end;
  };
  const hide = (end: number, keep: number): void => {
    out += source.slice(at, at + keep) + blank(source.slice(at + keep, Math.max(end - keep, at + keep)));
    out += source.slice(Math.max(end - keep, at + keep), end);
    at = end;
  };
  const template = (): void => {
    copy(at + 1);
    while (at < source.length && source[at] !== '`' && !source.startsWith('${', at)) {
      hide(Math.min(at + (source[at] === '\\' ? 2 : 1), source.length), 0);
    }
    const isHole = source[at] === '$';
    if (isHole) braces.push(true);
    copy(Math.min(at + (isHole ? 2 : 1), source.length));
  };
  while (at < source.length) {
    const char = source[at];
    if (source.startsWith('//', at) || source.startsWith('/*', at)) hide(endOfComment(source, at), 0);
    else if (char === '"' || char === "'") hide(endOfString(source, at), 1);
    else if (char === '/' && beforeRegex.test(out.slice(-200))) hide(endOfRegex(source, at), 1);
    else if (char === '`') template();
    else if (char === '{') {
      braces.push(false);
      copy(at + 1);
    } else if (char === '}' && braces.pop() === true) template();
    else copy(at + 1);
  }
  return out;
};
