import { BudgetExceeded } from './errors.ts';
import { compilePipe, type ExpressionContext } from './evaluate.ts';
import type { Eval } from './expression.ts';
import type { ActionNode, BranchNode, ListNode, StatementNode, TemplateNode, TextNode } from './nodes.ts';
import { type Exec, fail, type Run, type Signal, write } from './run.ts';
import { toBytes } from './text/bytes.ts';
import { printValue } from './value/print.ts';
import { isTrue, sortedKeys } from './value/types.ts';
import { type Dict, getKey, hasType, int, isDict, isList, type List, unsigned } from './value/value.ts';

const compileText = (node: TextNode): Exec => {
  const { text } = node;
  return (run) => {
    write(run, text, node);
    return 'next';
  };
};

/** What is printed in place of an action; nothing at all prints `<no value>`. */
const printed = (run: Run, value: unknown): string => {
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined ? '<no value>' : printValue(value, run.budget);
};

const compileAction = (context: ExpressionContext, node: ActionNode): Exec => {
  const pipe = compilePipe(context, node.pipe);
  const isPrinted = node.pipe.variables.length === 0;
  return (run, dot) => {
    run.node = node;
    const value = pipe(run, dot);
    if (isPrinted) {
      run.node = node;
      write(run, printed(run, value), node);
    }
    return 'next';
  };
};

/** Drops the variables that were declared since `mark`. */
const dropVariables = (run: Run, mark: number): void => {
  run.names.length = mark;
  run.values.length = mark;
};

const compileIfOrWith = (context: ExpressionContext, node: BranchNode): Exec => {
  const pipe = compilePipe(context, node.pipe);
  const list = compileList(context, node.list);
  const elseList = node.elseList === undefined ? undefined : compileList(context, node.elseList);
  const isWith = node.kind === 'with';
  return (run, dot) => {
    run.node = node;
    const mark = run.names.length;
    const value = pipe(run, dot);
    let signal: Signal = 'next';
    if (isTrue(value)) {
      signal = list(run, isWith ? value : dot);
    } else if (elseList !== undefined) {
      signal = elseList(run, dot);
    }
    dropVariables(run, mark);
    return signal;
  };
};

/** The elements that a range visits, each with its index or key; undefined where there is nothing to visit. */
const rangeOver = (run: Run, value: unknown): List | Dict | undefined => {
  if (value === undefined || isList(value) || isDict(value)) {
    return value;
  }
  if (hasType(value, '*types.Any') && !value.isNil) {
    return Array.from(toBytes(printValue(value, run.budget)), (byte) => unsigned('uint8', byte));
  }
  return fail(run, `range can't iterate over ${printValue(value, run.budget).slice(0, 80)}`);
};

const compileRange = (context: ExpressionContext, node: BranchNode): Exec => {
  const pipe = compilePipe(context, node.pipe);
  const list = compileList(context, node.list);
  const elseList = node.elseList === undefined ? undefined : compileList(context, node.elseList);
  const variableCount = node.pipe.variables.length;

  /** Go sets the variables on top of the stack, whatever they are called. */
  const iterate = (run: Run, index: unknown, element: unknown): Signal => {
    run.budget.step();
    const mark = run.values.length;
    if (variableCount > 0) {
      run.values[mark - 1] = element;
    }
    if (variableCount > 1) {
      run.values[mark - 2] = index;
    }
    const signal = list(run, element);
    dropVariables(run, mark);
    return signal;
  };
  const visitList = (run: Run, items: List): void => {
    for (let i = 0; i < items.length; i++) {
      const element = items[i];
      const index = variableCount > 1 ? int(i) : undefined;
      if (iterate(run, index, element === undefined ? null : element) === 'break') {
        return;
      }
    }
  };
  const visitDict = (run: Run, dict: Dict, keys: readonly string[]): void => {
    for (const key of keys) {
      if (iterate(run, key, getKey(dict, key)) === 'break') {
        return;
      }
    }
  };
  const visit = (run: Run, over: List | Dict | undefined): boolean => {
    if (over === undefined) {
      return false;
    }
    if (isList(over)) {
      visitList(run, over);
      return over.length > 0;
    }
    const keys = sortedKeys(over);
    run.budget.step(keys.length);
    visitDict(run, over, keys);
    return keys.length > 0;
  };
  return (run, dot) => {
    run.node = node;
    const mark = run.names.length;
    const over = rangeOver(run, pipe(run, dot));
    const hasVisited = visit(run, over);
    const signal = hasVisited || elseList === undefined ? 'next' : elseList(run, dot);
    dropVariables(run, mark);
    return signal;
  };
};

/** One more template within templates. */
const enter = (run: Run): void => {
  if (run.depth >= run.limits.depth) {
    throw new BudgetExceeded(`templates call each other more than ${run.limits.depth} levels deep`);
  }
  run.depth++;
};

const compileTemplate = (context: ExpressionContext, node: TemplateNode): Exec => {
  const pipe: Eval | undefined = node.pipe === undefined ? undefined : compilePipe(context, node.pipe);
  const { name } = node;
  return (run, dot) => {
    run.node = node;
    run.budget.step();
    const template = run.program.templates.get(name);
    if (template === undefined) {
      return fail(run, `template "${name}" not defined`, name);
    }
    enter(run);
    const inner = pipe?.(run, dot);
    const { names, values } = run;
    run.names = ['$'];
    run.values = [inner];
    template(run, inner);
    run.names = names;
    run.values = values;
    run.depth--;
    return 'next';
  };
};

const compileStatement = (context: ExpressionContext, node: StatementNode): Exec => {
  switch (node.kind) {
    case 'text':
      return compileText(node);
    case 'action':
      return compileAction(context, node);
    case 'if':
    case 'with':
      return compileIfOrWith(context, node);
    case 'range':
      return compileRange(context, node);
    case 'template':
      return compileTemplate(context, node);
    case 'break':
    case 'continue':
      return () => node.kind;
    default:
      return node satisfies never;
  }
};

/** Statements made ready, to be run one after the other until one jumps. */
export const compileList = (context: ExpressionContext, list: ListNode): Exec => {
  const statements = list.nodes.map((node) => compileStatement(context, node));
  const [only] = statements;
  if (statements.length === 1 && only !== undefined) {
    return only;
  }
  return (run, dot) => {
    for (const statement of statements) {
      const signal = statement(run, dot);
      if (signal !== 'next') {
        return signal;
      }
    }
    return 'next';
  };
};
