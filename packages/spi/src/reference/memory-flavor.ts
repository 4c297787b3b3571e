import { AppError, Attachment, type Health } from '@infrakit/core';
import { z } from 'zod';
import type { Flavor } from '../flavor.ts';
import { type MemoryGate, memoryGate } from './memory-gate.ts';

/** What a member gets from the memory flavor; all of it is optional (GP §2.9, vanilla). */
const MemoryFlavorProperties = z.strictObject({
  Tags: z.record(z.string(), z.string()).default({}),
  Init: z.array(z.string()).default([]),
  Attachments: z.array(Attachment).default([]),
});

/** What a memory flavor looks at, and what a test sees and changes. */
export interface MemoryFlavorWorld extends MemoryGate {
  /** Members are healthy until this says otherwise. */
  readonly setHealth: (id: string, health: Health) => void;
  /** The ids that were drained, in order, each as often as it was. */
  readonly drained: () => readonly string[];
}

const parse = (properties: unknown): z.infer<typeof MemoryFlavorProperties> => {
  const parsed = MemoryFlavorProperties.safeParse(properties ?? {});
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new AppError('FLAVOR_INVALID', faults.join('; '), { facts: { faults } });
};

/** The flavor interface in memory: tags, init lines and attachments from its properties, health as the world says. */
export const memoryFlavor = (): { readonly flavor: Flavor; readonly world: MemoryFlavorWorld } => {
  const gate = memoryGate();
  const healths = new Map<string, Health>();
  const drained: string[] = [];
  const flavor: Flavor = {
    validate: async ({ properties }, ctx) => {
      await gate.enter(ctx);
      parse(properties);
      return {};
    },
    prepare: async ({ properties, spec }, ctx) => {
      await gate.enter(ctx);
      const { Tags, Init, Attachments } = parse(properties);
      const prepared = {
        ...spec,
        Tags: { ...spec.Tags, ...Tags },
        Init: [...(spec.Init === '' ? [] : [spec.Init]), ...Init].join('\n'),
        Attachments: Attachments.length === 0 ? spec.Attachments : [...(spec.Attachments ?? []), ...Attachments],
      };
      return { spec: prepared };
    },
    healthy: async ({ instances }, ctx) => {
      await gate.enter(ctx);
      return { health: instances.map(({ ID }) => ({ id: ID, health: healths.get(ID) ?? 'healthy' })) };
    },
    drain: async ({ instance }, ctx) => {
      await gate.enter(ctx);
      drained.push(instance.ID);
      return {};
    },
  };
  const world: MemoryFlavorWorld = {
    ...gate,
    setHealth: (id, health) => {
      healths.set(id, health);
    },
    drained: () => [...drained],
  };
  return { flavor, world };
};
