import { mask } from './mask.ts';

/** One import or re-export of a file. */
export interface Import {
  readonly line: number;
  /** The module named, or undefined where an `import()` computes it. */
  readonly specifier: string | undefined;
  /** What is between `import` and `from`: `{ a, type B }`, `* as c`, or empty. */
  readonly clause: string;
  readonly isTypeOnly: boolean;
  /** The statement's text, on one line. */
  readonly text: string;
}

const statement =
  /(?<![\w$.])(?:import|export)\b\s*((?:type\s+)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}]*\}|[\w$]+(?:\s*,\s*(?:\{[^}]*\}|\*\s*as\s+[\w$]+))?))\s*from\s*(["'])/g;
const bare = /(?<![\w$.])import\s*(["'])/g;
const call = /(?<![\w$.])(?:import|require)\s*\(\s*(.)/g;

/** The line, from 1, of an offset. */
export const lineAt = (source: string, offset: number): number => source.slice(0, offset).split('\n').length;

/** Every import of TypeScript source, in order: static, bare, re-export, `import()`, `require()` and import types. */
export const importsOf = (source: string): Import[] => {
  const code = mask(source);
  const found: { at: number; value: Import }[] = [];
  const add = (match: RegExpMatchArray, quoteAt: number | undefined, clause: string): void => {
    const at = match.index ?? 0;
    const end = quoteAt === undefined ? at + match[0].length : source.indexOf(source[quoteAt] ?? '', quoteAt + 1) + 1;
    const isComputed = source[quoteAt ?? at] === '`' && source.slice(quoteAt, end).includes('${');
    const value = {
      line: lineAt(source, at),
      specifier: quoteAt === undefined || isComputed ? undefined : source.slice(quoteAt + 1, end - 1),
      clause: clause.replace(/^type\s+(?=[{*\w])/, ''),
      isTypeOnly: /^type\s+[{*\w]/.test(clause),
      text: source.slice(at, end).replace(/\s+/g, ' '),
    };
    found.push({ at, value });
  };
  const endOf = (match: RegExpMatchArray): number => (match.index ?? 0) + match[0].length - 1;
  for (const match of code.matchAll(statement)) add(match, endOf(match), match[1] ?? '');
  for (const match of code.matchAll(bare)) add(match, endOf(match), '');
  for (const match of code.matchAll(call)) {
    add(match, /["'`]/.test(match[1] ?? '') ? endOf(match) : undefined, '');
  }
  return found.sort((a, b) => a.at - b.at).map(({ value }) => value);
};
