import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ErrorCode, Spec, SpecObject } from '@infrakit/core';
import type { CallContext } from '../call-context.ts';
import type { Controller } from '../controller.ts';
import { type ContractContext, demand, demandEqual, eventually } from './contract-case.ts';

/** What the suite can see of and do to the world that a controller works on. */
export interface ControllerSubjectWorld {
  /** All that lies downstream, without ids: equal again once a rule has made up for a disturbance. */
  readonly look: () => Promise<unknown>;
  /** Gives every rule the time for a whole cycle. */
  readonly cycle: () => Promise<void>;
  /** Takes away something that the rule has made, in such a way that it makes up for it. */
  readonly disturb?: (name: string) => Promise<void>;
  /** Makes the rule want to destroy more than its budget allows; gives the id of the plan that is held. */
  readonly exceedBudget?: (name: string) => Promise<string>;
  /** Adds an untagged entry that counts as one of the rule's; gives its id. */
  readonly addUntagged?: (name: string) => Promise<string>;
  /** The id or key of something that the rule has made. */
  readonly anEntry?: (name: string) => Promise<string>;
}

/** A controller, and what the suite needs to know of it. Rules that are there already do no harm. */
export interface ControllerSubject {
  readonly controller: Controller;
  /** A spec of that name that can be committed; another number asks for something else. */
  readonly spec: (name: string, n: number) => Spec;
  /** A spec of that name that must be refused, and with which code. */
  readonly invalid?: { readonly spec: (name: string) => Spec; readonly code: ErrorCode };
  /** The code for a name that was never known. */
  readonly unknownName: ErrorCode;
  /** Whether what a rule does shows only after a while. */
  readonly isEventuallyConsistent: boolean;
  readonly world?: ControllerSubjectWorld;
}

/** One case's rules: names of its own, and short forms of what cases look at. */
export interface ControllerScene {
  readonly controller: Controller;
  readonly name: string;
  readonly otherName: string;
  readonly commit: (n: number, revision: number) => Promise<void>;
  /** The objects that a search by name gives. */
  readonly describe: () => Promise<readonly SpecObject[]>;
  /** Checks that the spec of that number is in force, at that revision. */
  readonly demandInForce: (n: number, revision: number) => Promise<void>;
  /** Checks what can be observed, at once or in a while. */
  readonly settle: (check: () => Promise<void>) => Promise<void>;
  /** What lies downstream, where the subject can tell. */
  readonly look: () => Promise<unknown>;
  readonly demandUntouched: (before: unknown, what: string) => Promise<void>;
  readonly demandTouched: (before: unknown, sentence: string) => Promise<void>;
}

const removeRule = (controller: Controller, name: string, ctx: CallContext): Promise<unknown> =>
  controller.destroy({ name }, ctx).catch(() => undefined);

/** Runs `act` with two names of its own, and destroys the rules of these names, also after a failure. */
export const withRules = async (
  subject: ControllerSubject,
  ctx: ContractContext,
  act: (scene: ControllerScene) => Promise<void>,
): Promise<void> => {
  const { controller, spec, isEventuallyConsistent, world } = subject;
  const tail = randomUUID().slice(0, 8);
  const name = `contract-a-${tail}`;
  const otherName = `contract-b-${tail}`;
  const look = async (): Promise<unknown> => {
    await world?.cycle();
    return world?.look();
  };
  try {
    await act({
      controller,
      name,
      otherName,
      commit: async (n, revision) => {
        await controller.commit({ spec: spec(name, n), revision }, ctx);
      },
      describe: async () => (await controller.describe({ search: { name } }, ctx)).objects,
      demandInForce: async (n, revision) => {
        demandEqual(await controller.spec({ name }, ctx), { spec: spec(name, n), revision }, 'the spec in force');
      },
      settle: (check) => eventually(ctx, isEventuallyConsistent, check),
      look,
      demandUntouched: async (before, what) => {
        demandEqual(await look(), before, `what lies downstream after ${what}`);
      },
      demandTouched: async (before, sentence) => {
        demand(!isDeepStrictEqual(await look(), before), sentence);
      },
    });
  } finally {
    for (const rule of [name, otherName]) await removeRule(controller, rule, ctx);
  }
};

/** Checks that a list of objects has exactly these names, in any order; others that the case did not make are left out. */
export const demandNames = (
  objects: readonly SpecObject[],
  mine: readonly string[],
  names: readonly string[],
): void => {
  const found = objects.map(({ metadata }) => metadata.name).filter((name) => mine.includes(name));
  demandEqual(found.sort(), [...names].sort(), 'the names of the described objects');
  demand(new Set(found).size === found.length, 'an object must be described once');
};
