import { checkFilter } from './filter.ts';

interface Node<T> {
  readonly children: Map<string, Node<T>>;
  /** Values by registration, so that equal values stay apart. */
  readonly values: Map<symbol, T>;
}

const emptyNode = <T>(): Node<T> => ({ children: new Map(), values: new Map() });

/** Many filters at once, each with a value. */
export interface FilterIndex<T> {
  /** Registers a value under a filter; the function returned removes it again. Errors: `FILTER_INVALID`. */
  readonly add: (filter: string, value: T) => () => void;
  /** The values of all filters that match the topic, one per registration, in no particular order. */
  readonly match: (topic: string) => T[];
}

/** An index whose matching costs about the number of levels of the topic, not the number of filters. */
export const filterIndex = <T>(): FilterIndex<T> => {
  const root = emptyNode<T>();

  const remove = (levels: readonly string[], id: symbol): void => {
    const nodes = [root];
    for (const level of levels) {
      const child = nodes.at(-1)?.children.get(level);
      if (child === undefined) return;
      nodes.push(child);
    }
    nodes.at(-1)?.values.delete(id);
    for (const [index, level] of [...levels.entries()].reverse()) {
      const child = nodes[index + 1];
      if (child !== undefined && (child.children.size > 0 || child.values.size > 0)) return;
      nodes[index]?.children.delete(level);
    }
  };

  const add = (filter: string, value: T): (() => void) => {
    const levels = checkFilter(filter).split('/');
    const id = Symbol(filter);
    let node = root;
    for (const level of levels) {
      const child = node.children.get(level) ?? emptyNode<T>();
      node.children.set(level, child);
      node = child;
    }
    node.values.set(id, value);
    return () => remove(levels, id);
  };

  const match = (topic: string): T[] => {
    const levels = topic.split('/');
    const found: T[] = [];
    const visit = (node: Node<T>, depth: number): void => {
      const level = levels[depth];
      // Wildcards do not match a first level that begins with $ [MQTT-4.7.2-1].
      const isOpen = depth > 0 || level?.startsWith('$') !== true;
      if (isOpen) found.push(...(node.children.get('#')?.values.values() ?? []));
      if (level === undefined) {
        found.push(...node.values.values());
        return;
      }
      const exact = node.children.get(level);
      if (exact !== undefined) visit(exact, depth + 1);
      const single = node.children.get('+');
      if (isOpen && single !== undefined) visit(single, depth + 1);
    };
    visit(root, 0);
    return found;
  };

  return { add, match };
};
