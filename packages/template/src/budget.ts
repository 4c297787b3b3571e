import { BudgetExceeded } from './errors.ts';

/** Limits of one rendering; a template that goes beyond one ends in an exec error. */
export interface Limits {
  /** Evaluated nodes, list elements and the like. */
  readonly steps: number;
  /** Characters of the result. */
  readonly output: number;
  /** Characters that functions may read and produce in all. */
  readonly memory: number;
  /** Templates within templates. */
  readonly depth: number;
  /** Levels of blocks and parentheses in the text. */
  readonly nesting: number;
}

export const DEFAULT_LIMITS: Limits = {
  steps: 2_000_000,
  output: 8 * 1024 * 1024,
  memory: 16 * 1024 * 1024,
  depth: 250,
  nesting: 250,
};

/** Levels of lists and maps within each other that are printed, encoded and compared. */
const MAX_VALUE_DEPTH = 1000;

/** What is left of the limits of one rendering. */
export interface Budget {
  /** Counts work that has been or is about to be done. */
  step(count?: number): void;
  /** Counts characters that are read or produced; where few make many, before those are made. */
  characters(count: number): void;
}

export const makeBudget = (limits: Limits): Budget => {
  let steps = limits.steps;
  let memory = limits.memory;
  return {
    step(count = 1) {
      steps -= count;
      if (!(steps >= 0)) {
        throw new BudgetExceeded(`the template needs more than ${limits.steps} steps`);
      }
    },
    characters(count) {
      memory -= count;
      if (!(memory >= 0)) {
        throw new BudgetExceeded(`the functions of the template handle more than ${limits.memory} characters`);
      }
    },
  };
};

/** Fails when values are nested beyond what can be printed, encoded or compared. */
export const checkDepth = (depth: number): void => {
  if (depth > MAX_VALUE_DEPTH) {
    throw new BudgetExceeded(`a value is nested more than ${MAX_VALUE_DEPTH} levels deep`);
  }
};
