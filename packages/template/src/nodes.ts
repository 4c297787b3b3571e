/** The text that a node was read from; `name` is what messages call it. */
export interface Source {
  readonly name: string;
  readonly text: string;
}

interface At {
  readonly source: Source;
  /** Offset in the source in UTF-16 units, where Go puts the node's position. */
  readonly at: number;
}

export interface DotNode extends At {
  readonly kind: 'dot';
}

export interface NilNode extends At {
  readonly kind: 'nil';
}

export interface BoolNode extends At {
  readonly kind: 'bool';
  readonly value: boolean;
}

/** A number literal with every reading that its spelling allows. */
export interface NumberNode extends At {
  readonly kind: 'number';
  readonly text: string;
  readonly int: bigint | undefined;
  readonly uint: bigint | undefined;
  readonly float: number | undefined;
  readonly complex: { readonly re: number; readonly im: number } | undefined;
}

export interface StringNode extends At {
  readonly kind: 'string';
  readonly literal: string;
  readonly value: string;
}

/** `.a.b` */
export interface FieldNode extends At {
  readonly kind: 'field';
  readonly path: readonly string[];
}

/** `$x.a.b`: the variable's name with its dollar, then the fields. */
export interface VariableNode extends At {
  readonly kind: 'variable';
  readonly variable: string;
  readonly path: readonly string[];
}

/** The name of a function. */
export interface IdentifierNode extends At {
  readonly kind: 'identifier';
  readonly name: string;
}

/** `(pipeline).a.b` */
export interface ChainNode extends At {
  readonly kind: 'chain';
  readonly base: OperandNode;
  readonly path: readonly string[];
}

export interface CommandNode extends At {
  readonly kind: 'command';
  readonly args: readonly OperandNode[];
}

export interface PipeNode extends At {
  readonly kind: 'pipe';
  readonly isAssign: boolean;
  readonly variables: readonly string[];
  readonly commands: readonly CommandNode[];
}

export type OperandNode =
  | DotNode
  | NilNode
  | BoolNode
  | NumberNode
  | StringNode
  | FieldNode
  | VariableNode
  | IdentifierNode
  | ChainNode
  | PipeNode;

export interface TextNode extends At {
  readonly kind: 'text';
  readonly text: string;
}

export interface ActionNode extends At {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}

export interface BranchNode extends At {
  readonly kind: 'if' | 'with' | 'range';
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}

export interface TemplateNode extends At {
  readonly kind: 'template';
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}

export interface JumpNode extends At {
  readonly kind: 'break' | 'continue';
}

export type StatementNode = TextNode | ActionNode | BranchNode | TemplateNode | JumpNode;

export interface ListNode {
  readonly nodes: readonly StatementNode[];
}

export type Node = OperandNode | CommandNode | StatementNode;

/** Whether a template body prints nothing, so that another definition of its name may replace it. */
export const isEmptyList = (list: ListNode): boolean =>
  list.nodes.every((node) => node.kind === 'text' && /^[\s\u0085]*$/.test(node.text));

const describePipe = (pipe: PipeNode): string =>
  (pipe.variables.length > 0 ? `${pipe.variables.join(', ')} ${pipe.isAssign ? '=' : ':='} ` : '') +
  pipe.commands.map(describe).join(' | ');

const dotted = (path: readonly string[]): string => path.map((name) => `.${name}`).join('');

const describe = (node: Node): string => {
  switch (node.kind) {
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
    case 'text':
      return node.text;
    case 'string':
      return node.literal;
    case 'field':
      return dotted(node.path);
    case 'variable':
      return node.variable + dotted(node.path);
    case 'identifier':
      return node.name;
    case 'chain':
      return (node.base.kind === 'pipe' ? `(${describePipe(node.base)})` : describe(node.base)) + dotted(node.path);
    case 'command':
      return node.args.map((arg) => (arg.kind === 'pipe' ? `(${describePipe(arg)})` : describe(arg))).join(' ');
    case 'pipe':
      return describePipe(node);
    case 'action':
      return `{{${describePipe(node.pipe)}}}`;
    case 'if':
    case 'with':
    case 'range':
      return `{{${node.kind} ${describePipe(node.pipe)}}}`;
    case 'template':
      return `{{template ${JSON.stringify(node.name)}${node.pipe === undefined ? '' : ` ${describePipe(node.pipe)}`}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    default:
      return node satisfies never;
  }
};

const LONGEST = 80;

/** A node as it is written, for messages; long ones are cut. */
export const describeNode = (node: Node): string => {
  const text = describe(node);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};
