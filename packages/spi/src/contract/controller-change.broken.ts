import { AppError } from '@infrakit/core';
import type { Controller } from '../controller.ts';
import type { MemorySurroundings } from '../reference/memory-controller.ts';
import { memoryControllerSubject } from '../reference/memory-controller-subject.ts';
import type { ControllerSubject } from './controller-subject.ts';
import { testingContext } from './testing-context.ts';

/** What is to be wrong about a controller that is right otherwise. */
export type Change = (controller: Controller, surroundings: MemorySurroundings) => Partial<Controller>;

/** A subject of which one thing is changed. */
export const changed = (change: Change): ControllerSubject =>
  memoryControllerSubject((controller, surroundings) => ({ ...controller, ...change(controller, surroundings) }));

/** The context of the calls that broken methods make. */
export const ctx = testingContext();

/** Whether there is a rule of that name. */
export const isThere = async (controller: Controller, name: string): Promise<boolean> =>
  (await controller.describe({ search: { name } }, ctx)).objects.length > 0;

/** What a controller says of a name that it does not know. */
export const refuse = (name: string): never => {
  throw new AppError('RULE_NOT_FOUND', `there is no ${name}`);
};
