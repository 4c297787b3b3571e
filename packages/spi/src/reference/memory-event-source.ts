import { compareUtf8 } from '@infrakit/core';
import type { EventSource } from '../event.ts';
import { type MemoryGate, memoryGate } from './memory-gate.ts';

interface Node extends Map<string, Node> {}

/** What a memory event source knows, and what a test changes. */
export interface MemoryEventWorld extends MemoryGate {
  /** Makes a topic and all above it known. */
  readonly addTopic: (topic: string) => void;
}

const levelsOf = (topic: string): string[] => topic.split('/').filter((level) => level !== '' && level !== '.');

/** An event source in memory, which knows these topics and those above them. */
export const memoryEventSource = (
  topics: readonly string[] = [],
): { readonly source: EventSource; readonly world: MemoryEventWorld } => {
  const gate = memoryGate();
  const root: Node = new Map();
  const addTopic = (topic: string): void => {
    let node = root;
    for (const level of levelsOf(topic)) {
      const child: Node = node.get(level) ?? new Map();
      node.set(level, child);
      node = child;
    }
  };
  for (const topic of topics) addTopic(topic);
  const source: EventSource = {
    list: async ({ topic }, ctx) => {
      await gate.enter(ctx);
      const node = levelsOf(topic).reduce<Node | undefined>((at, level) => at?.get(level), root);
      return { nodes: node === undefined ? null : [...node.keys()].sort(compareUtf8) };
    },
  };
  return { source, world: { ...gate, addTopic } };
};
