import { lex } from './lexer.ts';
import { stringLiteral } from './literals.ts';
import type { BranchNode, ListNode, PipeNode, Source, StatementNode } from './nodes.ts';
import { isEmptyList } from './nodes.ts';
import { type PipelineScope, parsePipeline } from './parse-pipeline.ts';
import { type TokenStream, tokenStream } from './token-stream.ts';
import type { Token } from './tokens.ts';

/** What is shared by the texts of one template set. */
export interface ParseContext {
  /** Bodies of `define` and `block` by name; definitions are added. */
  readonly templates: Map<string, ListNode>;
  /** Variables that are declared at the top; declarations at the top are added. */
  readonly variables: string[];
  /** Why a function may not be called, or undefined when it may. */
  refusal(name: string): string | undefined;
  readonly maxNesting: number;
}

/** `end`, or `else` (with the `if` of an `else if` still to be read). */
interface Closing {
  readonly kind: 'end' | 'else';
}

interface Parser extends PipelineScope {
  readonly context: ParseContext;
  rangeDepth: number;
}

const makeParser = (
  context: ParseContext,
  stream: TokenStream,
  variables: string[],
  depth: { level: number },
): Parser => ({
  context,
  stream,
  variables,
  rangeDepth: 0,
  refusal: context.refusal,
  nested(parse) {
    if (++depth.level > context.maxNesting) {
      stream.fail(`nested more than ${context.maxNesting} levels deep`);
    }
    const result = parse();
    depth.level--;
    return result;
  },
});

const isClosing = (node: StatementNode | Closing): node is Closing => node.kind === 'end' || node.kind === 'else';

const describeClosing = (node: Closing): string => `{{${node.kind}}}`;

const define = (parser: Parser, name: string, list: ListNode, token?: Token): void => {
  const known = parser.context.templates.get(name);
  if (known === undefined || isEmptyList(known)) {
    parser.context.templates.set(name, list);
  } else if (!isEmptyList(list)) {
    parser.stream.fail(`multiple definition of template "${name}"`, token, name);
  }
};

/** Statements up to an `end` or `else`. */
const itemList = (parser: Parser): { readonly list: ListNode; readonly closing: Closing } => {
  const nodes: StatementNode[] = [];
  while (parser.stream.peekNonSpace().kind !== 'eof') {
    const node = textOrAction(parser);
    if (isClosing(node)) {
      return { list: { nodes }, closing: node };
    }
    nodes.push(node);
  }
  return parser.stream.fail('unexpected end of text: an {{end}} is missing');
};

const textOrAction = (parser: Parser): StatementNode | Closing => {
  const { stream } = parser;
  const token = stream.nextNonSpace();
  switch (token.kind) {
    case 'text':
      return { kind: 'text', source: stream.source, at: token.at, text: token.text };
    case 'leftDelim':
      return action(parser);
    default:
      return stream.unexpected(token, 'input');
  }
};

const action = (parser: Parser): StatementNode | Closing => {
  const { stream } = parser;
  const token = stream.nextNonSpace();
  switch (token.kind) {
    case 'block':
      return blockControl(parser);
    case 'break':
    case 'continue':
      return jumpControl(parser, token.kind, token);
    case 'else':
      return elseControl(parser);
    case 'end':
      return endControl(parser);
    case 'if':
    case 'range':
    case 'with':
      return branchControl(parser, token.kind);
    case 'template':
      return templateControl(parser);
    default:
  }
  stream.backup();
  const { at } = stream.peek();
  return { kind: 'action', source: stream.source, at, pipe: parsePipeline(parser, 'command', 'rightDelim') };
};

const expectRight = (parser: Parser, context: string): void => {
  const token = parser.stream.nextNonSpace();
  if (token.kind !== 'rightDelim') {
    parser.stream.unexpected(token, context);
  }
};

const jumpControl = (parser: Parser, kind: 'break' | 'continue', token: Token): StatementNode => {
  expectRight(parser, `{{${kind}}}`);
  if (parser.rangeDepth === 0) {
    parser.stream.fail(`{{${kind}}} outside {{range}}`, token);
  }
  return { kind, source: parser.stream.source, at: token.at };
};

const endControl = (parser: Parser): Closing => {
  expectRight(parser, 'end');
  return { kind: 'end' };
};

const elseControl = (parser: Parser): Closing => {
  if (parser.stream.peekNonSpace().kind !== 'if') {
    expectRight(parser, 'else');
  }
  return { kind: 'else' };
};

/** What follows `else`: for `else if` a whole branch, whose `end` closes this one too. */
const elseBranch = (parser: Parser, kind: BranchNode['kind']): ListNode => {
  if (kind === 'if' && parser.stream.peek().kind === 'if') {
    parser.stream.next();
    return { nodes: [branchControl(parser, 'if')] };
  }
  const { list, closing } = itemList(parser);
  return closing.kind === 'end' ? list : parser.stream.fail(`expected end; found ${describeClosing(closing)}`);
};

const branchControl = (parser: Parser, kind: BranchNode['kind']): BranchNode =>
  parser.nested(() => {
    const declared = parser.variables.length;
    const pipe = parsePipeline(parser, kind, 'rightDelim');
    parser.rangeDepth += kind === 'range' ? 1 : 0;
    const { list, closing } = itemList(parser);
    parser.rangeDepth -= kind === 'range' ? 1 : 0;
    const elseList = closing.kind === 'else' ? elseBranch(parser, kind) : undefined;
    parser.variables.length = declared;
    return { kind, source: parser.stream.source, at: pipe.at, pipe, list, elseList };
  });

const templateName = (parser: Parser, token: Token, context: string): string => {
  if (token.kind !== 'string' && token.kind !== 'rawString') {
    return parser.stream.unexpected(token, context);
  }
  const literal = stringLiteral(parser.stream.source, token);
  return 'problem' in literal ? parser.stream.fail(literal.problem, token) : literal.node.value;
};

/** The body of a `define` or `block`, up to its `end`: variables from outside are not seen in it. */
const body = (parser: Parser, name: string, token: Token, context: string): void => {
  const inner: Parser = { ...parser, variables: ['$'], rangeDepth: 0 };
  const { list, closing } = parser.nested(() => itemList(inner));
  if (closing.kind !== 'end') {
    parser.stream.fail(`unexpected ${describeClosing(closing)} in ${context}`);
  }
  define(parser, name, list, token);
};

const blockControl = (parser: Parser): StatementNode => {
  const context = 'block clause';
  const token = parser.stream.nextNonSpace();
  const name = templateName(parser, token, context);
  const pipe = parsePipeline(parser, context, 'rightDelim');
  body(parser, name, token, context);
  return { kind: 'template', source: parser.stream.source, at: token.at, name, pipe };
};

const templateControl = (parser: Parser): StatementNode => {
  const context = 'template clause';
  const { stream } = parser;
  const token = stream.nextNonSpace();
  const name = templateName(parser, token, context);
  let pipe: PipeNode | undefined;
  if (stream.nextNonSpace().kind !== 'rightDelim') {
    stream.backup();
    pipe = parsePipeline(parser, context, 'rightDelim');
  }
  return { kind: 'template', source: stream.source, at: token.at, name, pipe };
};

const definition = (parser: Parser): void => {
  const context = 'define clause';
  const token = parser.stream.nextNonSpace();
  const name = templateName(parser, token, context);
  expectRight(parser, context);
  body(parser, name, token, context);
};

/** Whether a `define` begins here; if so its delimiter and keyword are consumed. */
const takesDefine = (stream: TokenStream): boolean => {
  if (stream.peek().kind !== 'leftDelim') {
    return false;
  }
  const delimiter = stream.next();
  if (stream.nextNonSpace().kind === 'define') {
    return true;
  }
  stream.pushBack(delimiter);
  return false;
};

/**
 * Parses a text into its statements; `define` and `block` bodies go into the context, as does the text itself under
 * its name, unless it is empty and has been defined. Throws a TemplateError of kind `parse`.
 */
export const parse = (source: Source, context: ParseContext): ListNode => {
  const stream = tokenStream(source, lex(source.text));
  const parser = makeParser(context, stream, context.variables, { level: 0 });
  const nodes: StatementNode[] = [];
  while (stream.peek().kind !== 'eof') {
    if (takesDefine(stream)) {
      definition(parser);
      continue;
    }
    const node = textOrAction(parser);
    if (isClosing(node)) {
      return stream.fail(`unexpected ${describeClosing(node)}`);
    }
    nodes.push(node);
  }
  const list = { nodes };
  define(parser, source.name, list);
  return context.templates.get(source.name) ?? list;
};
