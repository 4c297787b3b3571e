import { TemplateError } from './errors.ts';
import type { Source } from './nodes.ts';
import { positionOf } from './position.ts';
import type { Token } from './tokens.ts';
import { describeToken } from './tokens.ts';

/** Tokens with up to three pushed back, and the errors that speak of them. */
export interface TokenStream {
  readonly source: Source;
  next(): Token;
  peek(): Token;
  nextNonSpace(): Token;
  peekNonSpace(): Token;
  /** Pushes the last token back. */
  backup(): void;
  /** Pushes tokens back in front of the last one, in the order in which they are read again. */
  pushBack(...tokens: readonly Token[]): void;
  /** A parse error; the line is that of the last token read, as in Go. */
  fail(reason: string, token?: Token, offendingName?: string): never;
  unexpected(token: Token, context: string): never;
}

const END: Token = { kind: 'eof', at: 0, text: '', line: 1 };

export const tokenStream = (source: Source, tokens: readonly Token[]): TokenStream => {
  let read = 0;
  let waiting = 0;
  const held: [Token, Token, Token] = [END, END, END];

  const advance = (): Token => tokens[Math.min(read++, tokens.length - 1)] ?? END;
  const next = (): Token => {
    if (waiting > 0) {
      waiting--;
    } else {
      held[0] = advance();
    }
    return held[waiting as 0 | 1 | 2];
  };
  const backup = (): void => {
    waiting++;
  };
  const nextNonSpace = (): Token => {
    for (;;) {
      const token = next();
      if (token.kind !== 'space') {
        return token;
      }
    }
  };
  const fail = (reason: string, token = held[0], offendingName?: string): never => {
    const { line } = held[0];
    const { column } = positionOf(source.text, token.line === line ? token.at : held[0].at);
    throw new TemplateError({ kind: 'parse', templateName: source.name, line, column, reason, offendingName });
  };
  return {
    source,
    next,
    backup,
    nextNonSpace,
    fail,
    peek() {
      const token = next();
      backup();
      return token;
    },
    peekNonSpace() {
      const token = nextNonSpace();
      backup();
      return token;
    },
    pushBack(first, second) {
      held[1] = second ?? first ?? END;
      if (second !== undefined && first !== undefined) {
        held[2] = first;
      }
      waiting = second === undefined ? 2 : 3;
    },
    unexpected(token, context) {
      return fail(token.kind === 'error' ? token.text : `unexpected ${describeToken(token)} in ${context}`, token);
    },
  };
};
