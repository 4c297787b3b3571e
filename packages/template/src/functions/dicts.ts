import { failCall } from '../errors.ts';
import type { Run } from '../run.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { sortedKeys } from '../value/types.ts';
import { type Dict, getKey, hasKey, isDict, NIL_DICT, newDict, setKey, typedList } from '../value/value.ts';
import { toText } from './convert.ts';

const select = (run: Run, dict: Dict, isWanted: (key: string) => boolean): Dict => {
  const out = newDict();
  const keys = Object.keys(dict);
  run.budget.step(keys.length);
  for (const key of keys) {
    if (isWanted(key)) {
      setKey(out, key, getKey(dict, key));
    }
  }
  return out;
};

const dict = variadic([], 'any', (run, ...entries) => {
  const out = newDict();
  for (let i = 0; i < entries.length; i += 2) {
    setKey(out, toText(entries[i], run.budget), i + 1 < entries.length ? entries[i + 1] : '');
  }
  return out;
});

/** Follows keys through nested maps; `fallback` where one is missing. */
const dig = (dictionary: unknown, fallback: unknown, keys: readonly unknown[]): unknown => {
  let value = dictionary;
  for (const key of keys) {
    if (!isDict(value) || typeof key !== 'string') {
      return failCall('dig needs texts as keys and a map, with a default before it');
    }
    if (!hasKey(value, key)) {
      return fallback;
    }
    value = getKey(value, key);
  }
  return value;
};

/** sprig's functions on maps. `set` and `unset` change the map that they are given. */
export const DICT_FUNCTIONS: FunctionTable = {
  dict,
  get: fn(['dict', 'string'], (_run, map, key) => (hasKey(map, key) ? getKey(map, key) : '')),
  set: fn(['dict', 'string', 'any'], (_run, map, key, value) => {
    if (map === NIL_DICT) {
      return failCall('assignment to entry in nil map');
    }
    setKey(map, key, value);
    return map;
  }),
  unset: fn(['dict', 'string'], (_run, map, key) => {
    if (map !== NIL_DICT) {
      delete map[key];
    }
    return map;
  }),
  hasKey: fn(['dict', 'string'], (_run, map, key) => hasKey(map, key)),
  keys: variadic([], 'dict', (run, ...maps) => {
    const keys = maps.flatMap((map) => sortedKeys(map));
    run.budget.step(keys.length);
    return typedList('string', keys);
  }),
  values: fn(['dict'], (run, map) => {
    const keys = sortedKeys(map);
    run.budget.step(keys.length);
    return keys.map((key) => getKey(map, key));
  }),
  pick: variadic(['dict'], 'string', (run, map, ...keys) => {
    const wanted = new Set(keys);
    return select(run, map, (key) => wanted.has(key));
  }),
  omit: variadic(['dict'], 'string', (run, map, ...keys) => {
    const unwanted = new Set(keys);
    return select(run, map, (key) => !unwanted.has(key));
  }),
  pluck: variadic(['string'], 'dict', (_run, key, ...maps) =>
    maps.filter((map) => hasKey(map, key)).map((map) => getKey(map, key)),
  ),
  dig: variadic([], 'any', (_run, ...args) =>
    args.length < 3 ? failCall('dig needs at least three arguments') : dig(args.at(-1), args.at(-2), args.slice(0, -2)),
  ),
};
