import type { Document } from './document.ts';
import { findEntry, follow, type Located, type ValuePath } from './located.ts';
import { createProblem, formatProblem } from './problem.ts';

/** A path as sentences begin with: `Instance.Properties.Ports[0].Host`, `Rules.1.QoS`, `Labels["a.b"]`. */
const pathText = /^([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*): (.*)$/s;
const part = /\["((?:[^"\\]|\\.)*)"\]|[\w-]+/g;

/** The old words of a group (GP §1.4), behind which the path stands. */
const leadText = /^(?:Invalid properties: )?/;

const split = (sentence: string): { readonly path: string; readonly rest: string } | null => {
  const [, path, rest] = pathText.exec(sentence) ?? [];
  return path === undefined || rest === undefined ? null : { path, rest };
};

const partsOf = (path: string): ValuePath =>
  [...path.matchAll(part)].map(([whole, quoted]) => (quoted === undefined ? whole : JSON.parse(`"${quoted}"`)));

/** What a plugin finds wrong with properties, told from the root of the spec: `Ports: …` is `Instance.Properties.Ports: …`. */
export const faultUnder = (parent: string, fault: string): string => {
  if (split(fault) === null) return `${parent}: ${fault}`;
  return `${parent}.${fault}`;
};

/**
 * A sentence of who judged a spec without its text, with the place in the file put before it where the path is in the document,
 * from its root or from its `properties`; else the sentence as it is (DESIGN §5).
 */
export const placed = (document: Document, sentence: string): string => {
  const { file, root } = document;
  const [lead = ''] = leadText.exec(sentence) ?? [];
  const found = split(sentence.slice(lead.length));
  if (found === null || root.kind !== 'map') return sentence;
  const path = partsOf(found.path);
  for (const full of [path, ['properties', ...path]]) {
    const isThere = follow(root, full.slice(0, full.length - path.length + 1)).node !== undefined;
    if (!isThere) continue;
    return formatProblem(createProblem(file, document.positionOf(offsetOf(root, full)), '', sentence));
  }
  return sentence;
};

/** A value that stands on its line; a map or a list at its key, for it begins below. */
const offsetOf = (root: Located, path: ValuePath): number => {
  const { node, offset } = follow(root, path);
  const parent = follow(root, path.slice(0, -1)).node;
  if (node === undefined || node.kind === 'scalar' || parent?.kind !== 'map') return offset;
  return findEntry(parent, String(path.at(-1)))?.keyOffset ?? offset;
};
