import type { Budget, Limits } from './budget.ts';
import { BudgetExceeded, TemplateError } from './errors.ts';
import type { Host } from './host.ts';
import type { Node, Source } from './nodes.ts';
import { positionOf } from './position.ts';
import type { Segment } from './source-map.ts';

/** What a missing map key and an unset variable are: an error, nothing, or the zero value. */
export type MissingKey = 'error' | 'default' | 'zero';

/** How a statement ended: in order, or by `break` or `continue`. */
export type Signal = 'next' | 'break' | 'continue';

/** A statement made ready. */
export type Exec = (run: Run, dot: unknown) => Signal;

/** A compiled template set. */
export interface Program {
  readonly source: Source;
  /** The address that relative addresses of `include` are resolved against. */
  readonly url: string;
  readonly missingKey: MissingKey;
  readonly isMultiPass: boolean;
  readonly limits: Limits;
  readonly main: Exec;
  /** Bodies of `define` and `block`. */
  readonly templates: ReadonlyMap<string, Exec>;
  /** Whether values may be changed while rendering, so that the caller's data must be copied. */
  readonly hasEffects: boolean;
  /** A template that this one includes, compiled once. */
  nested(name: string, text: string, url: string): Program;
}

/** Variables of `var`. A sourced template has a copy and also sets those of its parents. */
export interface Variables {
  readonly values: Map<string, unknown>;
  readonly parent: Variables | undefined;
}

/** The state of one rendering of one template. */
export interface Run {
  readonly program: Program;
  readonly host: Host;
  readonly budget: Budget;
  readonly limits: Limits;
  readonly variables: Variables;
  /** The data that `.` is at the top. */
  readonly root: unknown;
  /** What was being evaluated last, for errors. */
  node: Node;
  /** Stack of `$` variables, innermost last. */
  names: string[];
  values: unknown[];
  /** Templates within templates, includes counted. */
  depth: number;
  output: string;
  /** Where each part of the output came from, when that was asked for. */
  readonly segments: Segment[] | undefined;
}

/** An exec error at the node evaluated last. */
export const fail = (run: Run, reason: string, offendingName?: string, cause?: unknown): never => {
  const { source, at } = run.node;
  const { line, column } = positionOf(source.text, at);
  throw new TemplateError({ kind: 'exec', templateName: source.name, line, column, reason, offendingName, cause });
};

/** Appends to the output. `at` is the place in the source that the text comes from. */
export const write = (run: Run, text: string, node: Node): void => {
  if (run.segments !== undefined && text !== '') {
    const isText = node.kind === 'text';
    run.segments.push({ rendered: run.output.length, source: node.at, sourceText: node.source, isText });
  }
  run.output += text;
  if (run.output.length > run.limits.output) {
    throw new BudgetExceeded(`the result is longer than ${run.limits.output} characters`);
  }
};
