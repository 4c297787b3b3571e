/** A JSON value that knows where it was written: `offset` counts in the rendered text. */
export type Located = LocatedScalar | LocatedList | LocatedMap;

/** `raw` is the text of an unquoted YAML scalar, so that an error can show `yes` where the value is `true`. */
export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly offset: number;
  readonly value: string | number | boolean | null;
  readonly raw?: string;
}

export interface LocatedList {
  readonly kind: 'list';
  readonly offset: number;
  readonly items: readonly Located[];
}

export interface LocatedMap {
  readonly kind: 'map';
  readonly offset: number;
  readonly entries: readonly LocatedEntry[];
}

export interface LocatedEntry {
  readonly key: string;
  readonly keyOffset: number;
  readonly value: Located;
}

/** Keys and list indexes from the root of a document: `['properties', 'List', 0, 'ID']`. */
export type ValuePath = readonly (string | number)[];

/** `properties.List[0].ID`; keys that are not plain words are quoted: `properties.Labels["a.b"]`. */
export const formatValuePath = (path: ValuePath): string =>
  path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!/^[\w-]+$/.test(part)) return `[${JSON.stringify(part)}]`;
      return index === 0 ? part : `.${part}`;
    })
    .join('');

/** The plain JSON value, a fresh copy each time. */
export const plain = (node: Located): unknown => {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'list':
      return node.items.map(plain);
    case 'map':
      return Object.fromEntries(node.entries.map((entry) => [entry.key, plain(entry.value)]));
    default:
      return node satisfies never;
  }
};

/** The entry of a key: the exact spelling first, then any case (EI §0.1). */
export const findEntry = (map: LocatedMap, key: string): LocatedEntry | undefined =>
  map.entries.find((entry) => entry.key === key) ??
  map.entries.find((entry) => entry.key.toLowerCase() === key.toLowerCase());

/** What a path leads to: the value if it is there, and the offset to point at: the value's, else the nearest parent key's. */
export const follow = (root: Located, path: ValuePath): { node: Located | undefined; offset: number } => {
  let node: Located = root;
  let offset = root.offset;
  for (const part of path) {
    if (node.kind === 'list') {
      const item: Located | undefined = node.items[Number(part)];
      if (item === undefined) return { node: undefined, offset };
      node = item;
      offset = item.offset;
      continue;
    }
    const entry = node.kind === 'map' ? findEntry(node, String(part)) : undefined;
    if (entry === undefined) return { node: undefined, offset };
    node = entry.value;
    offset = entry.keyOffset;
  }
  return { node, offset: node.offset };
};
