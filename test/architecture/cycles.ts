/** A directed graph: each node with what it points at. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** One cycle for each edge that closes one in a depth-first walk, as the path from a node back to itself. */
export const cyclesOf = (graph: Graph): string[][] => {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): void => {
    const start = path.indexOf(node);
    if (start >= 0) {
      cycles.push([...path.slice(start), node]);
      return;
    }
    if (done.has(node)) return;
    path.push(node);
    for (const next of graph.get(node) ?? []) visit(next);
    path.pop();
    done.add(node);
  };
  for (const node of graph.keys()) visit(node);
  return cycles;
};
