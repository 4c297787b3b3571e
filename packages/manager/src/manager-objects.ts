import { controllerView } from '@infrakit/runtime';
import {
  controllerInterface,
  type Group,
  groupInterface,
  metadataInterface,
  type PluginObject,
  pluginObject,
} from '@infrakit/spi';
import type { Manager } from './manager.ts';
import { managerController } from './manager-controller.ts';
import { managerGroup } from './manager-group.ts';
import type { ManagerOptions } from './manager-options.ts';
import { statusMetadata } from './status-metadata.ts';

/** The objects of a stack (GP §4.6): the stack itself, `groups`, each group, each controller, each of its rules. */
export const managerObjects = (
  manager: Manager,
  facts: { readonly name: string; readonly options: ManagerOptions },
): readonly PluginObject[] => {
  const { name: stack, options } = facts;
  const changesFor = options.Group;
  const groups = managerController(manager, options.Group, stack);
  const group = managerGroup(manager, options.Group, groups);
  const objects: PluginObject[] = [
    pluginObject({ object: '', description: metadataInterface, implementation: statusMetadata(manager) }),
    pluginObject({ object: 'groups', description: controllerInterface, implementation: groups, changesFor }),
    pluginObject({ object: 'groups', description: groupInterface, implementation: group, changesFor }),
  ];
  for (const target of options.Controllers) {
    const implementation = managerController(manager, target, null);
    objects.push(pluginObject({ object: target, description: controllerInterface, implementation, proxyFor: target }));
  }
  for (const { target, name } of manager.records()) {
    if (target === options.Group) {
      const proxyFor = `${target}/${name}`;
      const view = controllerView(groups, stack, name);
      const implementation: Group = { ...group, ...view };
      objects.push(pluginObject({ object: name, description: controllerInterface, implementation: view, proxyFor }));
      objects.push(pluginObject({ object: name, description: groupInterface, implementation, proxyFor }));
    } else {
      const proxyFor = `${target}/${name}`;
      const implementation = controllerView(managerController(manager, target, null), target, name);
      objects.push(pluginObject({ object: proxyFor, description: controllerInterface, implementation, proxyFor }));
    }
  }
  return objects;
};
