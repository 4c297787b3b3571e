import { type CallSite, compileCall, paramAt } from './call.ts';
import { coerce, constantAs, idealConstant, isLiteral } from './coerce.ts';
import { type Eval, type EvalCommand, MISSING } from './expression.ts';
import { fieldOf } from './fields.ts';
import type { ChainNode, CommandNode, FieldNode, OperandNode, PipeNode, VariableNode } from './nodes.ts';
import { describeNode } from './nodes.ts';
import { fail, type Run } from './run.ts';
import type { FunctionTable } from './signature.ts';
import { type GoFunction, isObject, type ParamType } from './value/value.ts';

/** What compiling an expression needs. */
export interface ExpressionContext {
  readonly functions: FunctionTable;
}

const notAFunction = (run: Run, node: OperandNode, argCount: number, final: unknown): void => {
  if (argCount > 1 || final !== MISSING) {
    fail(run, `can't give argument to non-function ${describeNode(node)}`);
  }
};

/** The value of the innermost variable of a name. */
const variableOf = (run: Run, name: string): unknown => {
  for (let i = run.names.length - 1; i >= 0; i--) {
    if (run.names[i] === name) {
      return run.values[i];
    }
  }
  return fail(run, `undefined variable: ${name}`, name);
};

const assign = (run: Run, name: string, value: unknown): void => {
  const i = run.names.lastIndexOf(name);
  if (i < 0) {
    fail(run, `undefined variable: ${name}`, name);
  }
  run.values[i] = value;
};

const methodOf = (receiver: unknown, name: string): GoFunction | undefined =>
  isObject(receiver) && receiver.shape.methods !== undefined && Object.hasOwn(receiver.shape.methods, name)
    ? receiver.shape.methods[name]
    : undefined;

/** `.name` of a receiver, called with the command's arguments where it is a method. */
const compileMember = (
  context: ExpressionContext,
  node: FieldNode | VariableNode | ChainNode,
  name: string,
  args: readonly OperandNode[],
): ((run: Run, dot: unknown, receiver: unknown, final: unknown) => unknown) => {
  const calls = new Map<GoFunction, EvalCommand>();
  return (run, dot, receiver, final) => {
    const method = methodOf(receiver, name);
    if (method === undefined) {
      return fieldOf(run, receiver, name, args.length > 1 || final !== MISSING);
    }
    let call = calls.get(method);
    if (call === undefined) {
      call = compileSite(context, { name, spec: method, isMethod: true, at: undefined, errorAt: node }, args.slice(1));
      calls.set(method, call);
    }
    return call(run, dot, final, receiver);
  };
};

/** The fields of a path, one after the other; only the last may have arguments. */
const compilePath = (
  context: ExpressionContext,
  node: FieldNode | VariableNode | ChainNode,
  args: readonly OperandNode[],
): ((run: Run, dot: unknown, receiver: unknown, final: unknown) => unknown) => {
  const members = node.path.map((name, i) =>
    compileMember(context, node, name, i === node.path.length - 1 ? args : []),
  );
  const last = members.at(-1);
  if (members.length === 1 && last !== undefined) {
    return last;
  }
  return (run, dot, receiver, final) => {
    let value = receiver;
    members.forEach((member, i) => {
      value = member(run, dot, value, i === members.length - 1 ? final : MISSING);
    });
    return value;
  };
};

const compileField = (context: ExpressionContext, node: FieldNode, args: readonly OperandNode[]): EvalCommand => {
  const path = compilePath(context, node, args);
  return (run, dot, final) => {
    run.node = node;
    return path(run, dot, dot, final);
  };
};

const compileVariable = (context: ExpressionContext, node: VariableNode, args: readonly OperandNode[]): EvalCommand => {
  const { variable } = node;
  if (node.path.length === 0) {
    return (run, _dot, final) => {
      run.node = node;
      const value = variableOf(run, variable);
      notAFunction(run, node, args.length, final);
      return value;
    };
  }
  const path = compilePath(context, node, args);
  return (run, dot, final) => {
    run.node = node;
    return path(run, dot, variableOf(run, variable), final);
  };
};

const compileChain = (context: ExpressionContext, node: ChainNode, args: readonly OperandNode[]): EvalCommand => {
  const base = compileOperand(context, node.base);
  const path = compilePath(context, node, args);
  return (run, dot, final) => {
    run.node = node;
    return path(run, dot, base(run, dot), final);
  };
};

const compileFunction = (
  context: ExpressionContext,
  node: OperandNode & { readonly kind: 'identifier' },
  command: CommandNode | undefined,
): EvalCommand => {
  const spec = context.functions[node.name];
  if (spec === undefined || !Object.hasOwn(context.functions, node.name)) {
    return (run) => {
      run.node = node;
      return fail(run, `"${node.name}" is not a defined function`, node.name);
    };
  }
  const args = command?.args.slice(1) ?? [];
  return compileSite(context, { name: node.name, spec, at: node, errorAt: command ?? node }, args);
};

/** A call with its arguments made ready. */
const compileSite = (context: ExpressionContext, site: CallSite, args: readonly OperandNode[]): EvalCommand =>
  compileCall(
    site,
    args.map((arg, i) => compileArg(context, arg, paramAt(site.spec, i))),
  );

const withoutFinal =
  (command: EvalCommand): Eval =>
  (run, dot) =>
    command(run, dot, MISSING);

/** An operand where its value is used as it is. */
const compileOperand = (context: ExpressionContext, node: OperandNode): Eval => {
  switch (node.kind) {
    case 'dot':
      return (run, dot) => {
        run.node = node;
        return dot;
      };
    case 'field':
      return withoutFinal(compileField(context, node, []));
    case 'variable':
      return withoutFinal(compileVariable(context, node, []));
    case 'chain':
      return withoutFinal(compileChain(context, node, []));
    case 'identifier':
      return withoutFinal(compileFunction(context, node, undefined));
    case 'pipe':
      return compilePipe(context, node);
    default:
      return compileConstant(node, idealConstant(node));
  }
};

const compileConstant = (node: OperandNode, constant: ReturnType<typeof idealConstant>): Eval => {
  if ('problem' in constant) {
    return (run) => {
      run.node = node;
      return fail(run, constant.problem);
    };
  }
  const { value } = constant;
  return (run) => {
    run.node = node;
    return value;
  };
};

/** An operand as an argument of a parameter type. */
const compileArg = (context: ExpressionContext, node: OperandNode, type: ParamType): Eval => {
  if (isLiteral(node)) {
    return compileConstant(node, constantAs(node, type));
  }
  const operand = compileOperand(context, node);
  if (type === 'value') {
    return operand;
  }
  return (run, dot) => coerce(run, operand(run, dot), type);
};

const compilePlain = (context: ExpressionContext, node: OperandNode, argCount: number): EvalCommand => {
  const operand = compileOperand(context, node);
  return (run, dot, final) => {
    run.node = node;
    notAFunction(run, node, argCount, final);
    return operand(run, dot);
  };
};

/** In Go a parenthesised pipeline that gets arguments is reported where evaluation stands, not at itself. */
const compileParenthesised = (context: ExpressionContext, node: PipeNode, argCount: number): EvalCommand => {
  const pipe = compilePipe(context, node);
  return (run, dot, final) => {
    notAFunction(run, node, argCount, final);
    return pipe(run, dot);
  };
};

const compileCommand = (context: ExpressionContext, command: CommandNode): EvalCommand => {
  const [first] = command.args;
  if (first === undefined) {
    return () => undefined;
  }
  switch (first.kind) {
    case 'field':
      return compileField(context, first, command.args);
    case 'chain':
      return compileChain(context, first, command.args);
    case 'identifier':
      return compileFunction(context, first, command);
    case 'variable':
      return compileVariable(context, first, command.args);
    case 'pipe':
      return compileParenthesised(context, first, command.args.length);
    default:
      return compilePlain(context, first, command.args.length);
  }
};

/** Go unwraps what a command gives: a nil interface is nothing. */
const unwrap = (value: unknown): unknown => (value === null ? undefined : value);

const compileCommands = (context: ExpressionContext, pipe: PipeNode): Eval => {
  const commands = pipe.commands.map((command) => compileCommand(context, command));
  const [only] = commands;
  if (commands.length === 1 && only !== undefined) {
    return (run, dot) => {
      run.budget.step();
      run.node = pipe;
      return unwrap(only(run, dot, MISSING));
    };
  }
  return (run, dot) => {
    run.budget.step(commands.length);
    run.node = pipe;
    let value: unknown = MISSING;
    for (const command of commands) {
      value = unwrap(command(run, dot, value));
    }
    return value;
  };
};

/** A pipeline with its declarations: the variables are pushed on the stack, or set. */
export const compilePipe = (context: ExpressionContext, pipe: PipeNode): Eval => {
  const commands = compileCommands(context, pipe);
  const { variables, isAssign } = pipe;
  if (variables.length === 0) {
    return commands;
  }
  return (run, dot) => {
    const value = commands(run, dot);
    for (const variable of variables) {
      if (isAssign) {
        assign(run, variable, value);
      } else {
        run.names.push(variable);
        run.values.push(value);
      }
    }
    return value;
  };
};
