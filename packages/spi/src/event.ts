import { z } from 'zod';
import { reading, type SpiOf } from './interface.ts';

/**
 * What an event source can tell of itself (EI §5.2). The events themselves go over the `Events` port. `list` gives the
 * sorted children of a topic: an empty list for a leaf, null for a topic that is not there.
 */
export const eventInterface = {
  name: 'Event',
  version: '1.0.0',
  methods: {
    list: reading(z.strictObject({ topic: z.string() }), z.strictObject({ nodes: z.array(z.string()).nullable() })),
  },
} as const;

/** {@link eventInterface} as TypeScript. */
export type EventSource = SpiOf<typeof eventInterface>;
