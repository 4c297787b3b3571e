import type { Spec } from '@infrakit/core';

/** The plugins of the main job, as the demo starts them. */
export const plugins = [
  'manager:mystack',
  'group',
  'combo',
  'vanilla',
  'simulator',
  'simulator:nfs-auth',
  'enrollment:nfs',
  'time',
] as const;

/** What makes the manager keep the specs of the enrollment controller too. */
export const environment = { INFRAKIT_MANAGER_CONTROLLERS: 'nfs' } as const;

/** A group of one flavor. */
export const miners = (size = 5): Spec => ({
  kind: 'group',
  metadata: { name: 'miners', tags: { project: 'quarry' } },
  properties: {
    Allocation: { Size: size },
    Flavor: { Plugin: 'vanilla', Properties: { Init: ['dig --deep'], Tags: { tier: 'mine' } } },
    Instance: { Plugin: 'simulator/compute', Properties: { Note: 'lamp' } },
  },
});

/** A group of flavors put together. */
export const cattle = (size = 10): Spec => ({
  kind: 'group',
  metadata: { name: 'cattle' },
  properties: {
    Allocation: { Size: size },
    Flavor: {
      Plugin: 'combo',
      Properties: [{ Plugin: 'vanilla', Properties: { Init: ['graze'], Tags: { tier: 'meadow' } } }],
    },
    Instance: { Plugin: 'simulator/compute', Properties: { Note: 'bell' } },
  },
});

/** An authorisation for each head of cattle. */
export const cattleNfs = (options: Readonly<Record<string, unknown>> = {}): Spec => ({
  kind: 'enrollment',
  metadata: { name: 'cattle-nfs' },
  properties: {
    List: 'mystack/cattle',
    Instance: { Plugin: 'nfs-auth/disk', Properties: { host: '{{.ID}}', iops: 10 } },
  },
  options,
});
