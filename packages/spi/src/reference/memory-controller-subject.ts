import type { Spec } from '@infrakit/core';
import type { ControllerSubject } from '../contract/controller-subject.ts';
import { testingContext } from '../contract/testing-context.ts';
import type { Controller } from '../controller.ts';
import { type MemorySurroundings, memoryController } from './memory-controller.ts';

type Wrap = (controller: Controller, surroundings: MemorySurroundings) => Controller;

/** A memory controller as a subject of the controller contract; `wrap` puts something around it. */
export const memoryControllerSubject = (
  wrap: Wrap = (controller) => controller,
): ControllerSubject & AsyncDisposable => {
  const { controller: inner, surroundings } = memoryController();
  const controller = wrap(inner, surroundings);
  const ctx = testingContext();
  const keysOf = (name: string, n: number): string[] => [`${name}/x`, `${name}/y`, `${name}/z${n}`];
  const made = (name: string) => surroundings.entries().filter(({ key }) => key.startsWith(`${name}/`));
  let untagged = 0;
  const spec = (name: string, n: number): Spec => {
    const source = `${name}:${n}`;
    surroundings.setSource(source, keysOf(name, n));
    return { kind: 'memory', metadata: { name }, properties: { Source: source } };
  };
  return {
    controller,
    spec,
    invalid: { spec: (name) => ({ kind: 'memory', metadata: { name }, properties: {} }), code: 'SPEC_INVALID' },
    unknownName: 'RULE_NOT_FOUND',
    isEventuallyConsistent: false,
    world: {
      look: async () =>
        surroundings
          .entries()
          .map(({ key, owner }) => `${key} of ${owner}`)
          .sort(),
      cycle: async () => {},
      disturb: async (name) => {
        const [entry] = made(name);
        if (entry !== undefined) surroundings.remove(entry.id);
      },
      exceedBudget: async (name) => {
        const { spec: present } = await inner.spec({ name }, ctx);
        surroundings.setSource((present.properties as { Source: string }).Source, [`${name}/x`]);
        return (await inner.plan({ operation: 'commit', spec: present }, ctx)).plan.id;
      },
      addUntagged: async (name) => {
        untagged += 1;
        return surroundings.add(keysOf(name, 1)[untagged - 1] ?? name, null);
      },
      anEntry: async (name) => made(name)[0]?.id ?? name,
    },
    [Symbol.asyncDispose]: async () => {},
  };
};
