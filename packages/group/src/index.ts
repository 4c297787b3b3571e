export { type GroupController, type GroupControllerDeps, groupController } from './group-controller.ts';
export { GroupOptions, groupDefinition } from './group-definition.ts';
