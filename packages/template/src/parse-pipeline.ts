import { numberLiteral, stringLiteral } from './literals.ts';
import type { ChainNode, CommandNode, OperandNode, PipeNode } from './nodes.ts';
import { describeNode } from './nodes.ts';
import type { TokenStream } from './token-stream.ts';
import type { Token, TokenKind } from './tokens.ts';

/** What a pipeline needs to know of the template around it. */
export interface PipelineScope {
  readonly stream: TokenStream;
  /** Variables declared so far; declarations are appended. */
  readonly variables: string[];
  /** Why a function may not be called here, or undefined when it may. */
  refusal(name: string): string | undefined;
  /** Runs `parse` one level deeper; fails when the template is nested too deeply. */
  nested<T>(parse: () => T): T;
}

const OPERAND_STARTS: ReadonlySet<TokenKind> = new Set([
  'bool',
  'charConstant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);

const NOT_EXECUTABLE: ReadonlySet<OperandNode['kind']> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

const functionTerm = (scope: PipelineScope, token: Token): OperandNode => {
  const refusal = scope.refusal(token.text);
  if (refusal !== undefined) {
    scope.stream.fail(refusal, token, token.text);
  }
  return { kind: 'identifier', source: scope.stream.source, at: token.at, name: token.text };
};

const variableTerm = (scope: PipelineScope, token: Token): OperandNode => {
  if (!scope.variables.includes(token.text)) {
    scope.stream.fail(`undefined variable "${token.text}"`, token, token.text);
  }
  return { kind: 'variable', source: scope.stream.source, at: token.at, variable: token.text, path: [] };
};

const literalTerm = (scope: PipelineScope, token: Token): OperandNode => {
  const { source } = scope.stream;
  const isText = token.kind === 'string' || token.kind === 'rawString';
  const literal = isText ? stringLiteral(source, token) : numberLiteral(source, token);
  return 'problem' in literal ? scope.stream.fail(literal.problem, token) : literal.node;
};

const term = (scope: PipelineScope): OperandNode | undefined => {
  const { stream } = scope;
  const token = stream.nextNonSpace();
  const place = { source: stream.source, at: token.at };
  switch (token.kind) {
    case 'identifier':
      return functionTerm(scope, token);
    case 'variable':
      return variableTerm(scope, token);
    case 'dot':
    case 'nil':
      return { kind: token.kind, ...place };
    case 'bool':
      return { kind: 'bool', value: token.text === 'true', ...place };
    case 'field':
      return { kind: 'field', path: [token.text.slice(1)], ...place };
    case 'charConstant':
    case 'complex':
    case 'number':
    case 'string':
    case 'rawString':
      return literalTerm(scope, token);
    case 'leftParen':
      return scope.nested(() => parsePipeline(scope, 'parenthesized pipeline', 'rightParen'));
    default:
      stream.backup();
      return undefined;
  }
};

/** A term with the fields that follow it; as in Go the position becomes that of the first following field. */
const operand = (scope: PipelineScope): OperandNode | undefined => {
  const { stream } = scope;
  const node = term(scope);
  if (node === undefined || stream.peek().kind !== 'field') {
    return node;
  }
  const { at } = stream.peek();
  const path: string[] = [];
  while (stream.peek().kind === 'field') {
    path.push(stream.next().text.slice(1));
  }
  switch (node.kind) {
    case 'field':
    case 'variable':
      return { ...node, at, path: [...node.path, ...path] };
    case 'bool':
    case 'string':
    case 'number':
    case 'nil':
    case 'dot':
      return stream.fail(`unexpected . after term ${JSON.stringify(describeNode(node))}`);
    default:
      return { kind: 'chain', source: stream.source, at, base: node, path } satisfies ChainNode;
  }
};

const command = (scope: PipelineScope): CommandNode => {
  const { stream } = scope;
  const { at } = stream.peekNonSpace();
  const args: OperandNode[] = [];
  for (;;) {
    stream.peekNonSpace();
    const node = operand(scope);
    if (node !== undefined) {
      args.push(node);
    }
    const token = stream.next();
    if (token.kind === 'space') {
      continue;
    }
    if (token.kind === 'rightDelim' || token.kind === 'rightParen') {
      stream.backup();
    } else if (token.kind !== 'pipe') {
      stream.unexpected(token, 'operand');
    }
    break;
  }
  return args.length === 0 ? stream.fail('empty command') : { kind: 'command', source: stream.source, at, args };
};

interface Declarations {
  readonly variables: string[];
  isAssign: boolean;
}

/** Variables known at one place; looking them up takes time for each. */
const MAX_VARIABLES = 1000;

const declare = (scope: PipelineScope, declarations: Declarations, token: Token): void => {
  if (scope.variables.length > MAX_VARIABLES) {
    scope.stream.fail(`more than ${MAX_VARIABLES} variables are declared`, token, token.text);
  }
  declarations.variables.push(token.text);
  scope.variables.push(token.text);
};

/** After `$x,`: a range may declare a second variable, nothing else may. */
const secondVariable = (scope: PipelineScope, context: string, declarations: Declarations): void => {
  const { stream } = scope;
  if (context !== 'range' || declarations.variables.length > 1) {
    stream.fail(`too many declarations in ${context}`);
  }
  const { kind } = stream.peekNonSpace();
  if (kind !== 'variable' && kind !== 'rightDelim' && kind !== 'rightParen') {
    stream.fail('range can only initialize variables');
  }
  declarationsOf(scope, context, declarations);
};

const declarationsOf = (scope: PipelineScope, context: string, declarations: Declarations): void => {
  const { stream } = scope;
  const variable = stream.peekNonSpace();
  if (variable.kind !== 'variable') {
    return;
  }
  stream.next();
  const adjacent = stream.peek();
  const next = stream.peekNonSpace();
  if (next.kind === 'assign' || next.kind === 'declare') {
    declarations.isAssign = next.kind === 'assign';
    stream.nextNonSpace();
    declare(scope, declarations, variable);
  } else if (next.kind === 'char' && next.text === ',') {
    stream.nextNonSpace();
    declare(scope, declarations, variable);
    secondVariable(scope, context, declarations);
  } else if (adjacent.kind === 'space') {
    stream.pushBack(variable, adjacent);
  } else {
    stream.pushBack(variable);
  }
};

const check = (scope: PipelineScope, context: string, commands: readonly CommandNode[]): void => {
  if (commands.length === 0) {
    scope.stream.fail(`missing value for ${context}`);
  }
  commands.forEach((node, i) => {
    const first = node.args[0];
    if (i > 0 && first !== undefined && NOT_EXECUTABLE.has(first.kind)) {
      scope.stream.fail(`non executable command in pipeline stage ${i + 1}`);
    }
  });
};

/** Reads declarations and commands up to the token `end`, which is consumed. `context` names the place in messages. */
export const parsePipeline = (scope: PipelineScope, context: string, end: TokenKind): PipeNode => {
  const { stream } = scope;
  const { at } = stream.peekNonSpace();
  const declarations: Declarations = { variables: [], isAssign: false };
  declarationsOf(scope, context, declarations);
  const commands: CommandNode[] = [];
  for (;;) {
    const token = stream.nextNonSpace();
    if (token.kind === end) {
      check(scope, context, commands);
      return { kind: 'pipe', source: stream.source, at, commands, ...declarations };
    }
    if (!OPERAND_STARTS.has(token.kind)) {
      stream.unexpected(token, context);
    }
    stream.backup();
    commands.push(command(scope));
  }
};
