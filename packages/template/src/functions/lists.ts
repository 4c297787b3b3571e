import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { compareText } from '../text/bytes.ts';
import { deepEqual } from '../value/compare.ts';
import { isTrue, kindName } from '../value/types.ts';
import { type GoFunction, int, isList, typedList } from '../value/value.ts';
import { toList, toText, toTexts } from './convert.ts';

const has = (run: Run, items: readonly unknown[], wanted: unknown): boolean =>
  items.some((item) => deepEqual(wanted, item, run.budget));

const uniq = (run: Run, items: readonly unknown[]): unknown[] => {
  const seen: unknown[] = [];
  for (const item of items) {
    run.budget.step(seen.length);
    if (!has(run, seen, item)) {
      seen.push(item);
    }
  }
  return seen;
};

/** Whole numbers from `start` towards `stop`, which is left out. */
const untilStep = (run: Run, start: number, stop: number, step: number): number[] => {
  const isUp = stop >= start;
  if ((isUp && step <= 0) || (!isUp && step >= 0)) {
    return [];
  }
  const count = Math.ceil((stop - start) / step);
  run.budget.step(count);
  return Array.from({ length: count }, (_, i) => start + i * step);
};

const ints = (numbers: readonly number[]): unknown[] =>
  typedList(
    'int',
    numbers.map((number) => int(number)),
  );

const push = fn(['any', 'any'], (run, list, item) => [...toList(list, 'push', run.budget), item]);
const prepend = fn(['any', 'any'], (run, list, item) => [item, ...toList(list, 'prepend', run.budget)]);
const first = fn(['any'], (run, list) => toList(list, 'find first', run.budget)[0] ?? null);
const last = fn(['any'], (run, list) => toList(list, 'find last', run.budget).at(-1) ?? null);
const rest = fn(['any'], (run, list) => toList(list, 'find rest', run.budget).slice(1));
const initial = fn(['any'], (run, list) => toList(list, 'find initial', run.budget).slice(0, -1));
const reverse = fn(['any'], (run, list) => [...toList(list, 'find reverse', run.budget)].reverse());
const compact = fn(['any'], (run, list) => toList(list, 'compact', run.budget).filter((item) => isTrue(item)));
const uniqOf = fn(['any'], (run, list) => uniq(run, toList(list, 'find uniq', run.budget)));
const without = variadic(['any'], 'any', (run, list, ...omitted) =>
  toList(list, 'find without', run.budget).filter((item) => !has(run, omitted, item)),
);
const contains = fn(['any', 'any'], (run, wanted, list) =>
  list === null ? false : has(run, toList(list, 'find has', run.budget), wanted),
);

const chunk = fn(['int', 'any'], (run, size, list) => {
  const items = toList(list, 'chunk', run.budget);
  if (size <= 0) {
    return failCall(`cannot chunk by ${size}`);
  }
  const chunks = Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
  return typedList('[]interface {}', chunks);
});

const concat = variadic([], 'any', (run, ...lists) => {
  const out: unknown[] = [];
  for (const list of lists) {
    if (!isList(list)) {
      return failCall(`Cannot concat type ${kindName(list)} as list`);
    }
    run.budget.step(list.length);
    for (const item of list) {
      out.push(item);
    }
  }
  return out;
});

const list: GoFunction = variadic([], 'any', (_run, ...items) => items);

/** sprig's functions on lists. */
export const LIST_FUNCTIONS: FunctionTable = {
  list,
  tuple: list,
  append: push,
  push,
  prepend,
  first,
  last,
  rest,
  initial,
  reverse,
  compact,
  uniq: uniqOf,
  without,
  has: contains,
  chunk,
  concat,
  mustAppend: push,
  mustPush: push,
  mustPrepend: prepend,
  mustFirst: first,
  mustLast: last,
  mustRest: rest,
  mustInitial: initial,
  mustReverse: reverse,
  mustCompact: compact,
  mustUniq: uniqOf,
  mustWithout: without,
  mustHas: contains,
  mustChunk: chunk,
  sortAlpha: fn(['any'], (run, value) =>
    typedList('string', isList(value) ? toTexts(value, run.budget).sort(compareText) : [toText(value, run.budget)]),
  ),
  until: fn(['int'], (run, count) => ints(untilStep(run, 0, count, count < 0 ? -1 : 1))),
  untilStep: fn(['int', 'int', 'int'], (run, start, stop, step) => ints(untilStep(run, start, stop, step))),
};
