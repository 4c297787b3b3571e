import { type AliasEvent, EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { depthFlaw, duplicateFlaw, type Flaw, inexactFlaw, isExact, type Parsed, protoFlaw } from './flaw.ts';
import type { Limits } from './limits.ts';
import type { Located, LocatedEntry, LocatedMap } from './located.ts';
import { createYamlCursor, type Slot } from './yaml-cursor.ts';
import { coreTagName, resolvePlain, resolveTagged } from './yaml-scalar.ts';

/** A value with what it costs to repeat it: how many values it has and how many levels, aliases expanded. */
interface Composed {
  readonly node: Located;
  readonly values: number;
  readonly levels: number;
}

/**
 * Builds located values from parser events: aliases and merge keys (`<<`) expanded within the limits, keys as strings.
 * Own keys come first, then merged ones; a merged value keeps the place where it was written.
 */
export const composeYaml = (text: string, events: readonly Event[], limits: Limits): Parsed => {
  const flaws: Flaw[] = [];
  const refused = new WeakSet<Located>();
  const cursor = createYamlCursor(text);
  let anchors = new Map<string, Composed | undefined>();
  let next = 0;
  let aliased = 0;

  const flaw = (offset: number, message: string): void => {
    flaws.push({ offset, message });
  };
  /** Stands for what had a flaw, so that it causes no further ones. */
  const nothing = (offset: number): Composed => {
    const node: Located = { kind: 'scalar', offset, value: null };
    refused.add(node);
    return { node, values: 1, levels: 0 };
  };
  const written = (start: number, end: number): string => (start === -1 ? '' : text.slice(start, end));

  const scalar = (event: ScalarEvent, offset: number): Composed => {
    const source = getScalarValue(text, event);
    const tag = written(event.tagStart, event.tagEnd);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const resolved = tag === '' ? { value: isPlain ? resolvePlain(source) : source } : resolveTagged(tag, source);
    if ('reason' in resolved) {
      flaw(offset, resolved.reason);
      return nothing(offset);
    }
    const { value } = resolved;
    if (typeof value === 'number' && !Number.isFinite(value))
      flaw(offset, `\`${source}\` is no JSON number: remove it`);
    else if (typeof value === 'number' && !isExact(source, value)) flaws.push(inexactFlaw(source, offset));
    const node: Located = { kind: 'scalar', offset, value, ...(isPlain && tag === '' ? { raw: source } : {}) };
    return { node, values: 1, levels: 0 };
  };

  const alias = (event: AliasEvent, offset: number, depth: number): Composed => {
    const name = written(event.anchorStart, event.anchorEnd);
    const target = anchors.get(name);
    if (target === undefined) {
      const reason = anchors.has(name) ? 'stands inside the value it names' : 'names no anchor before it';
      flaw(offset, `the alias \`*${name}\` ${reason}: write the value out`);
      return nothing(offset);
    }
    if (depth + target.levels > limits.depth) {
      flaws.push(depthFlaw(offset, limits.depth));
      return nothing(offset);
    }
    const isFirst = aliased <= limits.aliasedValues;
    aliased += target.values;
    if (aliased <= limits.aliasedValues) return { ...target, node: structuredClone(target.node) };
    const message = `aliases repeat more than ${limits.aliasedValues} values: write fewer`;
    if (isFirst) flaws.push({ offset, message, isLimit: true });
    return nothing(offset);
  };

  const skipCollection = (): void => {
    for (let open = 1; open > 0; next += 1) {
      const type = events[next]?.type;
      if (type === EVENT_ID.POP) open -= 1;
      else if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) open += 1;
    }
  };

  const list = (offset: number, depth: number): Composed => {
    const items: Located[] = [];
    let values = 1;
    let levels = 0;
    while (events[next]?.type !== EVENT_ID.POP) {
      const item = compose(depth, 'item');
      items.push(item.node);
      values += item.values;
      levels = Math.max(levels, item.levels);
    }
    next += 1;
    return { node: { kind: 'list', offset, items }, values, levels: levels + 1 };
  };

  const keyText = (key: Located): string | undefined => {
    if (key.kind === 'scalar' && key.value !== null) return String(key.value);
    if (refused.has(key)) return undefined;
    const isTemplate = text.startsWith('{{', key.offset) || text.startsWith('{{', key.offset - 1);
    if (isTemplate)
      flaw(key.offset, 'a template expression cannot stand here: quote it, or escape it as `\\{\\{ … \\}\\}`');
    else
      flaw(key.offset, `a key must be a word, not ${key.kind === 'scalar' ? 'nothing' : `a ${key.kind}`}: write one`);
    return undefined;
  };

  const merged = (source: Located, offset: number): readonly LocatedMap[] => {
    const sources = source.kind === 'list' ? source.items : [source];
    const maps = sources.filter((one) => one.kind === 'map');
    if (sources.some((one) => one.kind !== 'map' && !refused.has(one)))
      flaw(offset, 'only maps can be merged with `<<`: give it an alias of a map');
    return maps;
  };

  const map = (offset: number, depth: number): Composed => {
    const entries = new Map<string, LocatedEntry>();
    const merges: LocatedMap[] = [];
    let values = 1;
    let levels = 0;
    while (events[next]?.type !== EVENT_ID.POP) {
      const key = compose(depth, 'key').node;
      const value = compose(depth, 'value');
      values += value.values;
      levels = Math.max(levels, value.levels);
      if (key.kind === 'scalar' && key.raw === '<<') {
        merges.push(...merged(value.node, key.offset));
        continue;
      }
      const name = keyText(key);
      if (name === undefined) continue;
      const first = entries.get(name);
      if (first !== undefined) flaws.push(duplicateFlaw(name, key.offset, first.keyOffset));
      if (name === '__proto__') flaws.push(protoFlaw(key.offset));
      entries.set(name, { key: name, keyOffset: key.offset, value: value.node });
    }
    next += 1;
    for (const entry of merges.flatMap((one) => one.entries)) {
      if (!entries.has(entry.key)) entries.set(entry.key, entry);
    }
    return { node: { kind: 'map', offset, entries: [...entries.values()] }, values, levels: levels + 1 };
  };

  const collection = (isList: boolean, tag: string, offset: number, depth: number): Composed => {
    if (depth >= limits.depth) flaws.push(depthFlaw(offset, limits.depth));
    else if (tag === '' || tag === '!' || coreTagName(tag) === (isList ? 'seq' : 'map')) {
      return isList ? list(offset, depth + 1) : map(offset, depth + 1);
    } else flaw(offset, `the tag \`${tag}\` is not a JSON value: remove it`);
    skipCollection();
    return nothing(offset);
  };

  const compose = (depth: number, slot: Slot): Composed => {
    const event = events[next];
    next += 1;
    if (event === undefined || event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) {
      throw new RangeError('the parser gave events that do not nest');
    }
    const offset = cursor.startOf(event, slot);
    if (event.type === EVENT_ID.ALIAS) return alias(event, offset, depth);
    const anchor = written(event.anchorStart, event.anchorEnd);
    if (anchor !== '') anchors.set(anchor, undefined);
    const composed =
      event.type === EVENT_ID.SCALAR
        ? scalar(event, offset)
        : collection(event.type === EVENT_ID.SEQUENCE, written(event.tagStart, event.tagEnd), offset, depth);
    if (anchor !== '') anchors.set(anchor, composed);
    return composed;
  };

  const roots: Located[] = [];
  while (next < events.length) {
    next += 1;
    anchors = new Map();
    roots.push(compose(0, 'document').node);
    next += 1;
  }
  return { roots, flaws };
};
