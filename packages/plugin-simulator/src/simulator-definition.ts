import { join } from 'node:path';
import { encodeLevel } from '@infrakit/core';
import {
  instanceInterface,
  loadBalancerInterface,
  type PluginDefinition,
  type PluginObject,
  pluginObject,
} from '@infrakit/spi';
import { openInstanceTable } from './instance-table.ts';
import { pretence } from './pretence.ts';
import { simulatedInstance } from './simulated-instance.ts';
import { openSimulatedLoadBalancer } from './simulated-loadbalancer.ts';
import { SimulatorOptions, simulatorEnvironment } from './simulator-options.ts';

/** Simulated instances (`<name>/compute`, `net`, `disk`) and load balancers (`<name>/lb1` …), GP §2.10. */
export const simulatorDefinition: PluginDefinition<typeof SimulatorOptions> = {
  kind: 'simulator',
  summary: 'simulated instances and load balancers, with durable state',
  isSingle: false,
  options: SimulatorOptions,
  environment: simulatorEnvironment,
  start: async (deps) => {
    const { options, log, nowMs } = deps;
    const folder = options.Store === 'file' ? await deps.stateDir() : null;
    const pathOf = (object: string): string | null =>
      folder === null ? null : join(folder, `${encodeLevel(object)}.log`);
    const pretend = pretence(options, deps);
    const incarnation = deps.newId();
    const objects: PluginObject[] = [];
    const closing: (() => Promise<void>)[] = [];
    for (const object of options.InstanceTypes) {
      const table = await openInstanceTable(pathOf(object), { nowMs, log });
      const implementation = simulatedInstance(table, { endpoint: deps.name, incarnation, pretence: pretend });
      objects.push(pluginObject({ object, description: instanceInterface, implementation }));
      closing.push(table.close);
    }
    for (const object of options.L4Names) {
      const opened = await openSimulatedLoadBalancer(pathOf(object), { name: object, pretence: pretend, log });
      const implementation = opened.loadBalancer;
      objects.push(pluginObject({ object, description: loadBalancerInterface, implementation }));
      closing.push(opened.close);
    }
    return {
      objects: () => objects,
      stop: async () => {
        await Promise.all(closing.map((close) => close()));
      },
    };
  },
};
