/** Kinds of token, as Go's text/template/parse has them. */
export type TokenKind =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'complex'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'leftDelim'
  | 'leftParen'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelim'
  | 'rightParen'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

export type Keyword =
  | 'block'
  | 'break'
  | 'continue'
  | 'dot'
  | 'define'
  | 'else'
  | 'end'
  | 'if'
  | 'nil'
  | 'range'
  | 'template'
  | 'with';

/** A token: `at` is its offset in the text in UTF-16 units, `line` the line it begins on, from 1. */
export interface Token {
  readonly kind: TokenKind;
  readonly at: number;
  readonly text: string;
  readonly line: number;
}

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map([
  ['block', 'block'],
  ['break', 'break'],
  ['continue', 'continue'],
  ['define', 'define'],
  ['else', 'else'],
  ['end', 'end'],
  ['if', 'if'],
  ['nil', 'nil'],
  ['range', 'range'],
  ['template', 'template'],
  ['with', 'with'],
]);

export const keywordOf = (word: string): Keyword | undefined => KEYWORDS.get(word);

const isKeyword = (kind: TokenKind): boolean => kind === 'dot' || KEYWORDS.has(kind);

/** A token as messages name it. */
export const describeToken = (token: Token): string => {
  if (token.kind === 'eof') {
    return 'end of text';
  }
  if (token.kind === 'error') {
    return token.text;
  }
  if (isKeyword(token.kind)) {
    return `<${token.text}>`;
  }
  return token.text.length > 20 ? `${JSON.stringify(token.text.slice(0, 20))}…` : JSON.stringify(token.text);
};
