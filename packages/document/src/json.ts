import { depthFlaw, duplicateFlaw, type Flaw, inexactFlaw, isExact, type Parsed, protoFlaw } from './flaw.ts';
import type { Limits } from './limits.ts';
import type { Located, LocatedEntry } from './located.ts';

class Stop extends Error {
  readonly flaw: Flaw;
  constructor(flaw: Flaw) {
    super(flaw.message);
    this.flaw = flaw;
  }
}

const words = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Reads one strict JSON value (RFC 8259) with the offset of every key and value; the first syntax error ends it. */
export const parseJson = (text: string, limits: Limits): Parsed => {
  const flaws: Flaw[] = [];
  let at = 0;

  const stop = (message: string, offset = at): never => {
    throw new Stop({ offset, message: `not JSON: ${message}` });
  };
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const skip = (): string | undefined => {
    match(/[ \t\r\n]*/y);
    return text[at];
  };
  const seen = (): string => {
    const character = text[at];
    if (character === undefined) return 'the end of the text';
    return character === '#' || text.startsWith('//', at) ? 'a comment, which JSON has not' : `\`${character}\``;
  };

  const string = (): string => {
    const start = at;
    at += 1;
    for (;;) {
      match(/[ !#-[\]-\uffff]*/y);
      const character = text[at];
      if (character === '"') break;
      if (character !== '\\') {
        if (character === undefined) stop('this string has no closing quote', start);
        stop(
          'a line break, tab or control character inside a string: close the quote before it, or write it as an escape such as \\n',
        );
      }
      if (match(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y) === '') {
        stop(`\`${text.slice(at, at + 2)}\` is not an escape of JSON: write \`\\\\\` for a backslash`);
      }
    }
    at += 1;
    return JSON.parse(text.slice(start, at));
  };

  const list = (offset: number, depth: number): Located => {
    const items: Located[] = [];
    at += 1;
    if (skip() !== ']') {
      for (;;) {
        items.push(value(depth));
        if (skip() !== ',') break;
        at += 1;
        if (skip() === ']') stop('a comma before `]`: remove it');
      }
    }
    if (text[at] !== ']') stop(`expected \`,\` or \`]\`, found ${seen()}`);
    at += 1;
    return { kind: 'list', offset, items };
  };

  const map = (offset: number, depth: number): Located => {
    const entries = new Map<string, LocatedEntry>();
    at += 1;
    if (skip() !== '}') {
      for (;;) {
        if (skip() !== '"') stop(`expected a key in double quotes, found ${seen()}`);
        const keyOffset = at;
        const key = string();
        const first = entries.get(key);
        if (first !== undefined) flaws.push(duplicateFlaw(key, keyOffset, first.keyOffset));
        if (key === '__proto__') flaws.push(protoFlaw(keyOffset));
        if (skip() !== ':') stop(`expected \`:\` after the key \`${key}\`, found ${seen()}`);
        at += 1;
        entries.set(key, { key, keyOffset, value: value(depth) });
        if (skip() !== ',') break;
        at += 1;
        if (skip() === '}') stop('a comma before `}`: remove it');
      }
    }
    if (text[at] !== '}') stop(`expected \`,\` or \`}\`, found ${seen()}`);
    at += 1;
    return { kind: 'map', offset, entries: [...entries.values()] };
  };

  const scalar = (offset: number): Located => {
    const number = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.+-])/y);
    if (number !== '') {
      if (!isExact(number, Number(number))) flaws.push(inexactFlaw(number, offset));
      return { kind: 'scalar', offset, value: Number(number) };
    }
    const word = match(/[\w.+-]+/y);
    const known = words.get(word);
    if (known !== undefined) return { kind: 'scalar', offset, value: known };
    at = offset;
    if (word === '') return stop(`expected a value, found ${seen()}`);
    const advice = /^[\d.+-]/.test(word) ? 'write a plain decimal number' : 'put text in double quotes';
    return stop(`expected a value, found \`${word}\`: ${advice}`);
  };

  const value = (depth: number): Located => {
    const character = skip();
    const offset = at;
    if (character === '"') return { kind: 'scalar', offset, value: string() };
    if (character !== '[' && character !== '{') return scalar(offset);
    if (depth >= limits.depth) throw new Stop(depthFlaw(offset, limits.depth));
    return character === '[' ? list(offset, depth + 1) : map(offset, depth + 1);
  };

  try {
    const root = value(0);
    if (skip() !== undefined) stop(`expected nothing after the value, found ${seen()}`);
    return { roots: [root], flaws };
  } catch (thrown) {
    if (thrown instanceof Stop) return { roots: [], flaws: [...flaws, thrown.flaw] };
    throw thrown;
  }
};
