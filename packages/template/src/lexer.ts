import { isDigit, isLetter, isPrint } from './text/unicode.ts';
import { keywordOf, type Token, type TokenKind } from './tokens.ts';

const LEFT = '{{';
const RIGHT = '}}';
const BLANKS = ' \t\r\n';
const NEWLINE = 0x0a;

const isBlank = (char: string): boolean => char !== '' && BLANKS.includes(char);

const isAlphaNumeric = (char: string): boolean =>
  /^[A-Za-z0-9_]$/.test(char) || (char > '\x7f' && (isLetter(char) || isDigit(char)));

const describeChar = (char: string): string => {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return char === '' ? 'end of text' : isPrint(char) ? `U+${code} '${char}'` : `U+${code}`;
};

interface Lexer {
  readonly text: string;
  readonly tokens: Token[];
  at: number;
  start: number;
  line: number;
  parens: number;
}

type State = ((lexer: Lexer) => State) | undefined;

const charAt = (lexer: Lexer): string => {
  const code = lexer.text.codePointAt(lexer.at);
  return code === undefined ? '' : String.fromCodePoint(code);
};

const has = (lexer: Lexer, what: string, at = lexer.at): boolean => lexer.text.startsWith(what, at);

const countLines = (lexer: Lexer): void => {
  for (let i = lexer.start; i < lexer.at; i++) {
    lexer.line += lexer.text.charCodeAt(i) === NEWLINE ? 1 : 0;
  }
};

const skip = (lexer: Lexer): void => {
  countLines(lexer);
  lexer.start = lexer.at;
};

const emit = (lexer: Lexer, kind: TokenKind): void => {
  lexer.tokens.push({ kind, at: lexer.start, text: lexer.text.slice(lexer.start, lexer.at), line: lexer.line });
  skip(lexer);
};

const refuse = (lexer: Lexer, reason: string): State => {
  lexer.tokens.push({ kind: 'error', at: lexer.start, text: reason, line: lexer.line });
  return undefined;
};

const acceptRun = (lexer: Lexer, valid: string): void => {
  while (lexer.at < lexer.text.length && valid.includes(lexer.text.charAt(lexer.at))) {
    lexer.at++;
  }
};

const accept = (lexer: Lexer, valid: string): boolean => {
  if (lexer.at < lexer.text.length && valid.includes(lexer.text.charAt(lexer.at))) {
    lexer.at++;
    return true;
  }
  return false;
};

const acceptAlphaNumeric = (lexer: Lexer): void => {
  for (let char = charAt(lexer); char !== '' && isAlphaNumeric(char); char = charAt(lexer)) {
    lexer.at += char.length;
  }
};

const hasLeftTrim = (lexer: Lexer, at: number): boolean => has(lexer, '-', at) && isBlank(lexer.text.charAt(at + 1));

const hasRightTrim = (lexer: Lexer, at: number): boolean => isBlank(lexer.text.charAt(at)) && has(lexer, '-', at + 1);

const isAtTrimmedRight = (lexer: Lexer, at: number): boolean => hasRightTrim(lexer, at) && has(lexer, RIGHT, at + 2);

const isAtRight = (lexer: Lexer): boolean => isAtTrimmedRight(lexer, lexer.at) || has(lexer, RIGHT);

const lexText: State = (lexer) => {
  const found = lexer.text.indexOf(LEFT, lexer.at);
  if (found < 0) {
    lexer.at = lexer.text.length;
    if (lexer.at > lexer.start) {
      emit(lexer, 'text');
    }
    emit(lexer, 'eof');
    return undefined;
  }
  let end = found;
  if (hasLeftTrim(lexer, found + LEFT.length)) {
    while (end > lexer.start && isBlank(lexer.text.charAt(end - 1))) {
      end--;
    }
  }
  lexer.at = end;
  if (end > lexer.start) {
    emit(lexer, 'text');
  }
  lexer.at = found;
  skip(lexer);
  return lexLeft;
};

const lexLeft: State = (lexer) => {
  const inside = lexer.at + LEFT.length;
  const afterMarker = inside + (hasLeftTrim(lexer, inside) ? 2 : 0);
  if (has(lexer, '/*', afterMarker)) {
    lexer.at = afterMarker;
    skip(lexer);
    return lexComment;
  }
  lexer.at = inside;
  emit(lexer, 'leftDelim');
  lexer.at = afterMarker;
  skip(lexer);
  lexer.parens = 0;
  return lexInside;
};

/** Steps over the right delimiter with its trim marker, and the blanks that it trims. */
const passRight = (lexer: Lexer, isTrimmed: boolean): void => {
  lexer.at += RIGHT.length;
  if (isTrimmed) {
    acceptRun(lexer, BLANKS);
  }
};

const lexComment: State = (lexer) => {
  const end = lexer.text.indexOf('*/', lexer.at + 2);
  if (end < 0) {
    return refuse(lexer, 'unclosed comment');
  }
  lexer.at = end + 2;
  if (!isAtRight(lexer)) {
    return refuse(lexer, 'comment ends before closing delimiter');
  }
  const isTrimmed = isAtTrimmedRight(lexer, lexer.at);
  lexer.at += isTrimmed ? 2 : 0;
  passRight(lexer, isTrimmed);
  skip(lexer);
  return lexText;
};

const lexRight: State = (lexer) => {
  const isTrimmed = hasRightTrim(lexer, lexer.at);
  if (isTrimmed) {
    lexer.at += 2;
    skip(lexer);
  }
  lexer.at += RIGHT.length;
  emit(lexer, 'rightDelim');
  if (isTrimmed) {
    acceptRun(lexer, BLANKS);
    skip(lexer);
  }
  return lexText;
};

const SINGLE: Readonly<Record<string, TokenKind>> = { '=': 'assign', '|': 'pipe' };

const lexParen = (lexer: Lexer, char: string): State => {
  lexer.at++;
  emit(lexer, char === '(' ? 'leftParen' : 'rightParen');
  lexer.parens += char === '(' ? 1 : -1;
  return lexer.parens < 0 ? refuse(lexer, 'unexpected right paren') : lexInside;
};

const lexDeclare = (lexer: Lexer): State => {
  lexer.at++;
  if (!accept(lexer, '=')) {
    return refuse(lexer, 'expected :=');
  }
  emit(lexer, 'declare');
  return lexInside;
};

const lexInside: State = (lexer) => {
  if (isAtRight(lexer)) {
    return lexer.parens === 0 ? lexRight : refuse(lexer, 'unclosed left paren');
  }
  const char = charAt(lexer);
  if (char === '') {
    return refuse(lexer, 'unclosed action');
  }
  if (isBlank(char)) {
    return lexSpace;
  }
  const kind = SINGLE[char];
  if (kind !== undefined) {
    lexer.at++;
    emit(lexer, kind);
    return lexInside;
  }
  return lexOperand(lexer, char);
};

const lexOperand = (lexer: Lexer, char: string): State => {
  switch (char) {
    case ':':
      return lexDeclare(lexer);
    case '"':
    case "'":
      return lexQuoted(lexer, char);
    case '`':
      return lexRaw(lexer);
    case '$':
      lexer.at++;
      return lexName(lexer, 'variable', 'variable');
    case '(':
    case ')':
      return lexParen(lexer, char);
    default:
  }
  if (char === '.' && !/^[0-9]$/.test(lexer.text.charAt(lexer.at + 1)) && lexer.at + 1 < lexer.text.length) {
    lexer.at++;
    return lexName(lexer, 'field', 'dot');
  }
  if (/^[-+.0-9]$/.test(char)) {
    return lexNumber(lexer);
  }
  if (isAlphaNumeric(char)) {
    return lexIdentifier(lexer);
  }
  lexer.at += char.length;
  if (char > '\x7f' || !isPrint(char)) {
    return refuse(lexer, `unrecognized character in action: ${describeChar(char)}`);
  }
  emit(lexer, 'char');
  return lexInside;
};

const lexSpace: State = (lexer) => {
  acceptRun(lexer, BLANKS);
  if (isAtTrimmedRight(lexer, lexer.at - 1)) {
    lexer.at--;
    if (lexer.at === lexer.start) {
      return lexRight;
    }
  }
  emit(lexer, 'space');
  return lexInside;
};

const isAtTerminator = (lexer: Lexer): boolean => {
  const char = lexer.text.charAt(lexer.at);
  return char === '' || isBlank(char) || '.,|:)('.includes(char) || has(lexer, RIGHT);
};

const lexName = (lexer: Lexer, kind: TokenKind, bare: TokenKind): State => {
  const from = lexer.at;
  if (!isAtTerminator(lexer)) {
    acceptAlphaNumeric(lexer);
    if (!isAtTerminator(lexer)) {
      return refuse(lexer, `bad character ${describeChar(charAt(lexer))}`);
    }
  }
  emit(lexer, lexer.at === from ? bare : kind);
  return lexInside;
};

const lexIdentifier = (lexer: Lexer): State => {
  acceptAlphaNumeric(lexer);
  if (!isAtTerminator(lexer)) {
    return refuse(lexer, `bad character ${describeChar(charAt(lexer))}`);
  }
  const word = lexer.text.slice(lexer.start, lexer.at);
  emit(lexer, keywordOf(word) ?? (word === 'true' || word === 'false' ? 'bool' : 'identifier'));
  return lexInside;
};

const lexQuoted = (lexer: Lexer, delimiter: string): State => {
  for (lexer.at++; ; lexer.at++) {
    const char = lexer.text.charAt(lexer.at);
    const escaped = char === '\\' ? lexer.text.charAt(++lexer.at) : char;
    if (escaped === '' || escaped === '\n') {
      return refuse(lexer, delimiter === '"' ? 'unterminated quoted string' : 'unterminated character constant');
    }
    if (char === delimiter) {
      lexer.at++;
      emit(lexer, delimiter === '"' ? 'string' : 'charConstant');
      return lexInside;
    }
  }
};

const lexRaw = (lexer: Lexer): State => {
  const end = lexer.text.indexOf('`', lexer.at + 1);
  if (end < 0) {
    return refuse(lexer, 'unterminated raw quoted string');
  }
  lexer.at = end + 1;
  emit(lexer, 'rawString');
  return lexInside;
};

const DECIMAL = '0123456789_';
const HEXADECIMAL = '0123456789abcdefABCDEF_';

const scanNumber = (lexer: Lexer): boolean => {
  accept(lexer, '+-');
  let digits = DECIMAL;
  if (accept(lexer, '0')) {
    digits = accept(lexer, 'xX')
      ? HEXADECIMAL
      : accept(lexer, 'oO')
        ? '01234567_'
        : accept(lexer, 'bB')
          ? '01_'
          : DECIMAL;
  }
  acceptRun(lexer, digits);
  if (accept(lexer, '.')) {
    acceptRun(lexer, digits);
  }
  if ((digits === DECIMAL && accept(lexer, 'eE')) || (digits === HEXADECIMAL && accept(lexer, 'pP'))) {
    accept(lexer, '+-');
    acceptRun(lexer, DECIMAL);
  }
  accept(lexer, 'i');
  const next = charAt(lexer);
  if (next !== '' && isAlphaNumeric(next)) {
    lexer.at += next.length;
    return false;
  }
  return true;
};

const lexNumber = (lexer: Lexer): State => {
  let isNumber = scanNumber(lexer);
  const isComplex = isNumber && /^[-+]$/.test(lexer.text.charAt(lexer.at));
  if (isComplex) {
    isNumber = scanNumber(lexer) && lexer.text.charAt(lexer.at - 1) === 'i';
  }
  if (!isNumber) {
    return refuse(
      lexer,
      `bad number syntax: ${JSON.stringify(lexer.text.slice(lexer.start, Math.min(lexer.at, lexer.start + 80)))}`,
    );
  }
  emit(lexer, isComplex ? 'complex' : 'number');
  return lexInside;
};

/**
 * Cuts a template into tokens. The last one is `eof`, or `error` with the reason as its text: the parser reports it when
 * it gets there.
 */
export const lex = (text: string): readonly Token[] => {
  const lexer: Lexer = { text, tokens: [], at: 0, start: 0, line: 1, parens: 0 };
  for (let state: State = lexText; state !== undefined; ) {
    state = state(lexer);
  }
  return lexer.tokens;
};
