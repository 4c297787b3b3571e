import type { Updatable } from '../metadata.ts';
import {
  type ContractCase,
  type ContractContext,
  type ContractSuite,
  demand,
  demandEqual,
  demandRejects,
  eventually,
  skipUnless,
} from './contract-case.ts';
import { type MetadataSubject, metadataCases } from './metadata-contract.ts';

/** An updatable tree; `metadata` is the same tree. Below `scratch`, a map, the suite may write; keys stay there for good. */
export interface UpdatableSubject extends MetadataSubject {
  readonly metadata: Updatable;
  readonly scratch: string;
  /** Ends the plugin without a word and starts it anew; `metadata` is then a handle on the new one. */
  readonly restart?: () => Promise<void>;
}

type Changes = Parameters<Updatable['changes']>[0]['changes'];

const at = ({ scratch }: UpdatableSubject, path: string): string => `${scratch}/${path}`;

/** A proposal with these values below the scratch map; nothing is written yet. */
const propose = (
  { metadata, ...subject }: UpdatableSubject,
  ctx: ContractContext,
  values: Readonly<Record<string, unknown>>,
) => {
  const changes: Changes = Object.entries(values).map(([path, value]) => ({
    path: `${subject.scratch}/${path}`,
    value,
  }));
  return metadata.changes({ changes }, ctx);
};

const write = async (
  subject: UpdatableSubject,
  ctx: ContractContext,
  values: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const { proposed, cas } = await propose(subject, ctx, values);
  await subject.metadata.commit({ proposed, cas }, ctx);
};

const demandAt = (
  subject: UpdatableSubject,
  ctx: ContractContext,
  path: string,
  value: unknown,
  when: string,
): Promise<void> =>
  eventually(ctx, subject.isEventuallyConsistent, async () => {
    const answer = await subject.metadata.get({ path: at(subject, path) }, ctx);
    demandEqual(answer.found ? answer.value : 'missing', value, `the value of ${at(subject, path)}, ${when},`);
  });

const whole = async ({ metadata }: UpdatableSubject, ctx: ContractContext): Promise<unknown> =>
  (await metadata.get({ path: '.' }, ctx)).value;

const conflict = ['METADATA_CONFLICT'] as const;

const updateCases: readonly ContractCase<UpdatableSubject>[] = [
  {
    name: 'changes writes nothing, and shows what is there',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const before = await whole(subject, ctx);
      const { original } = await propose(subject, ctx, { a: 'proposed' });
      demandEqual(original, before, 'the original of a proposal');
      demandEqual(await whole(subject, ctx), before, 'the tree after a proposal that nobody committed');
    },
  },
  {
    name: 'commit writes exactly the proposal',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const { proposed, cas } = await propose(subject, ctx, { a: 'committed', 'deep/er': [1, { two: null }] });
      await subject.metadata.commit({ proposed, cas }, ctx);
      await demandAt(subject, ctx, 'a', 'committed', 'after a commit');
      await demandAt(subject, ctx, 'deep/er', [1, { two: null }], 'after a commit');
      demandEqual(await whole(subject, ctx), proposed, 'the tree after a commit');
    },
  },
  {
    name: 'maps merge and lists are replaced',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      await write(subject, ctx, { map: { kept: 1, nested: { kept: 2 } }, list: [1, 2, 3] });
      await write(subject, ctx, { map: { added: 3, nested: { added: 4 } }, list: [4] });
      const merged = { kept: 1, added: 3, nested: { kept: 2, added: 4 } };
      await demandAt(subject, ctx, 'map', merged, 'after a map was laid over it');
      await demandAt(subject, ctx, 'list', [4], 'after a list was laid over it');
    },
  },
  {
    name: 'a commit leaves the rest of the tree alone',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      await write(subject, ctx, { a: 1, b: 1 });
      await write(subject, ctx, { a: 2 });
      await demandAt(subject, ctx, 'b', 1, 'which no change names');
      for (const { path, value } of subject.known) {
        demandEqual(
          (await subject.metadata.get({ path }, ctx)).value ?? null,
          value,
          `the value at ${path}, which no change names`,
        );
      }
    },
  },
  {
    name: 'of changes to one path the last counts',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const path = at(subject, 'twice');
      const changes: Changes = [
        { path, value: 'first' },
        { path, value: 'last' },
      ];
      const { proposed, cas } = await subject.metadata.changes({ changes }, ctx);
      await subject.metadata.commit({ proposed, cas }, ctx);
      await demandAt(subject, ctx, 'twice', 'last', 'after two changes of it at once');
    },
  },
  {
    name: 'a proposal that another commit overtook is refused',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const { proposed, cas } = await propose(subject, ctx, { a: 'overtaken' });
      await write(subject, ctx, { a: 'first' });
      await demandRejects(
        subject.metadata.commit({ proposed, cas }, ctx),
        conflict,
        'a commit of an overtaken proposal',
      );
      await demandAt(subject, ctx, 'a', 'first', 'after a refused commit');
    },
  },
  {
    name: 'a proposal that the world overtook is refused',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      skipUnless(subject.world?.change, 'the subject cannot change its world');
      const { proposed, cas } = await propose(subject, ctx, { a: 'overtaken' });
      await subject.world.change();
      await demandRejects(
        subject.metadata.commit({ proposed, cas }, ctx),
        conflict,
        'a commit of a proposal made before the world changed',
      );
    },
  },
  {
    name: 'of two commits at once one wins',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const proposals = [await propose(subject, ctx, { race: 1 }), await propose(subject, ctx, { race: 2 })];
      const commits = proposals.map(({ proposed, cas }) => subject.metadata.commit({ proposed, cas }, ctx));
      const outcomes = await Promise.allSettled(commits);
      demandEqual(
        outcomes.filter(({ status }) => status === 'fulfilled').length,
        1,
        'how many of two commits at once succeed',
      );
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled') + 1;
      await demandAt(subject, ctx, 'race', winner, 'after two commits at once');
    },
  },
  {
    name: 'a cas belongs to its proposal',
    cites: 'GP §2.5',
    run: async (subject, ctx) => {
      const { cas } = await propose(subject, ctx, { a: 'shown' });
      const other = await propose(subject, ctx, { a: 'slipped in' });
      demand(cas !== other.cas, 'two proposals must not have one cas, which is a hash over both documents');
      await demandRejects(
        subject.metadata.commit({ proposed: other.proposed, cas }, ctx),
        conflict,
        'a commit of one proposal with the cas of another',
      );
    },
  },
  {
    name: 'what was committed outlives a restart',
    cites: 'Law 11',
    run: async (subject, ctx) => {
      skipUnless(subject.restart, 'the subject cannot be restarted');
      await write(subject, ctx, { a: 'durable' });
      await subject.restart();
      await demandAt(subject, ctx, 'a', 'durable', 'after a restart');
    },
  },
];

/** What every updatable tree owes (GP §2.5): all that a readable one does, and the optimistic lock. */
export const updatableContract: ContractSuite<UpdatableSubject> = {
  name: 'Updatable',
  cases: [...metadataCases, ...updateCases],
};
