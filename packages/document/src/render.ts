import type { Position } from './position.ts';
import { createProblem, problemsError } from './problem.ts';

/** A rendered text, and from an offset in it the place of the source that it came from. */
export interface Rendered {
  readonly text: string;
  readonly positionOf: (offset: number) => Position;
}

/**
 * The template hook. It throws an error with `line` and `column` of the source, both from 1, its own or in `facts`; the
 * message is the sentence alone. What was rendered before, for example asynchronously, is given as `() => rendered`.
 */
export type Render = (source: string) => Rendered;

const numbersOf = (value: unknown): Partial<Position> => {
  if (typeof value !== 'object' || value === null) return {};
  const { line, column } = value as Record<string, unknown>;
  return {
    ...(typeof line === 'number' ? { line } : {}),
    ...(typeof column === 'number' ? { column } : {}),
  };
};

/** Renders a source; any failure becomes `SPEC_TEMPLATE` at the place that the hook's error names, else at 1:1. */
export const renderText = (source: string, file: string, render: Render): Rendered => {
  try {
    return render(source);
  } catch (thrown) {
    const facts = thrown instanceof Error && 'facts' in thrown ? numbersOf(thrown.facts) : {};
    const position = { line: 1, column: 1, ...facts, ...numbersOf(thrown) };
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw problemsError('SPEC_TEMPLATE', [createProblem(file, position, '', message)], thrown);
  }
};
