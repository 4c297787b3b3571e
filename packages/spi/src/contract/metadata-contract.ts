import { compareUtf8 } from '@infrakit/core';
import type { MetadataSource } from '../metadata.ts';
import {
  type ContractCase,
  type ContractContext,
  type ContractSuite,
  demand,
  demandEqual,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { deadlineCases, type StallingWorld } from './deadline-cases.ts';

/** A path that a metadata source is known to have. */
export interface KnownPath {
  readonly path: string;
  readonly value: unknown;
  /** Its children in any order; none for a scalar. */
  readonly keys: readonly string[];
}

/** What the suite can do to the tree. */
export interface MetadataSubjectWorld extends StallingWorld {
  /** Changes the value at `known[0]`; gives the new one. */
  readonly change?: () => Promise<unknown>;
}

/** A metadata source, and what it is known to hold. */
export interface MetadataSubject {
  readonly metadata: MetadataSource;
  /** Among them a scalar below a map, and, where the tree can hold them, null, false, zero and an empty list. */
  readonly known: readonly KnownPath[];
  readonly isEventuallyConsistent: boolean;
  readonly world?: MetadataSubjectWorld;
}

const keysOf = async ({ metadata }: MetadataSubject, ctx: ContractContext, path: string): Promise<string[] | null> =>
  (await metadata.keys({ path }, ctx)).nodes;

const missingPaths = ({ known }: MetadataSubject): string[] => [
  'never-there',
  'never-there/below',
  ...known.filter(({ keys }) => keys.length === 0).map(({ path }) => `${path}/never-there`),
];

/** How deep the walk over the tree goes. */
const depth = 4;

const walk = async (subject: MetadataSubject, ctx: ContractContext, path: string, level: number): Promise<void> => {
  const nodes = await keysOf(subject, ctx, path);
  if (nodes === null) return demand(false, `${path} is listed by its parent, so it must be there`);
  demandEqual(nodes, [...new Set(nodes)].sort(compareUtf8), `the keys of ${path}, sorted and without repetitions,`);
  const { found } = await subject.metadata.get({ path }, ctx);
  demand(found, `${path} is listed by its parent, so get must find it`);
  if (level === depth) return;
  for (const node of nodes) await walk(subject, ctx, path === '.' ? node : `${path}/${node}`, level + 1);
};

/** Demands on Keys and Get, for readable trees and updatable ones alike. */
export const metadataCases: readonly ContractCase<MetadataSubject>[] = [
  {
    name: 'get gives the value at a path',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      for (const { path, value } of subject.known) {
        const answer = await subject.metadata.get({ path }, ctx);
        demand(answer.found, `get must find ${path}, whatever its value`);
        demandEqual(answer.value ?? null, value, `the value at ${path}`);
      }
    },
  },
  {
    name: 'keys gives the children of a path, sorted',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      for (const { path, keys } of subject.known) {
        demandEqual(await keysOf(subject, ctx, path), keys.toSorted(compareUtf8), `the keys of ${path}`);
      }
    },
  },
  {
    name: 'what is not there is not found',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      for (const path of missingPaths(subject)) {
        const { found } = await subject.metadata.get({ path }, ctx);
        demand(!found, `get must not find ${path}`);
        const nodes = await keysOf(subject, ctx, path);
        demand(nodes === null, `the keys of ${path}, which is not there, must be null, not ${JSON.stringify(nodes)}`);
      }
    },
  },
  {
    name: 'part of a name is no path',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      for (const { path } of subject.known.filter((each) => /\w\w$/.test(each.path))) {
        for (const part of [path.slice(0, -1), `${path}r`]) {
          demand(
            !(await subject.metadata.get({ path: part }, ctx)).found,
            `${part} is not ${path}: get must not find it`,
          );
        }
      }
    },
  },
  {
    name: 'everything listed is there',
    cites: 'GP §2.5',
    run: (subject, ctx) => walk(subject, ctx, '.', 0),
  },
  {
    name: 'a value follows the world',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const [first] = subject.known;
      skipUnless(subject.world?.change, 'the subject cannot change its world');
      skipUnless(first, 'the subject knows no path');
      const value = await subject.world.change();
      await eventually(ctx, subject.isEventuallyConsistent, async () => {
        const answer = await subject.metadata.get({ path: first.path }, ctx);
        demandEqual(answer.value ?? null, value, `the value at ${first.path} after it changed`);
      });
    },
  },
  {
    name: 'what a caller does to a result changes nothing for others',
    cites: 'EI-P5',
    run: async (subject, ctx) => {
      const { value } = await subject.metadata.get({ path: '.' }, ctx);
      const copy: unknown = structuredClone(value);
      try {
        if (typeof value === 'object' && value !== null) Object.assign(value, { tampered: true });
      } catch {
        // A frozen result refuses; that is as good as a copy.
      }
      demandEqual(
        (await subject.metadata.get({ path: '.' }, ctx)).value,
        copy,
        'the tree after a caller changed what it got',
      );
    },
  },
  ...deadlineCases(({ metadata }: MetadataSubject, ctx) => metadata.get({ path: '.' }, ctx)),
];

/** What every metadata source owes (GP §2.5). */
export const metadataContract: ContractSuite<MetadataSubject> = { name: 'Metadata', cases: metadataCases };
