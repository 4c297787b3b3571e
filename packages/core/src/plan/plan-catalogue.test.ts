import { describe, expect, it } from 'vitest';
import type { DesiredEntry, Key, ObservedEntry, Ownership } from './entry.ts';
import { type PlanInput, plan } from './plan.ts';

const key = (value: string | null): Key =>
  value === null ? { kind: 'unknown', reason: 'no value for key' } : { kind: 'known', value };
const ours: Ownership = { kind: 'ours' };
/** How old tables of untagged entries run: `AllowUntaggedDestroy: true` (DESIGN §4). */
const untagged: Ownership = { kind: 'untagged', adopted: false, destroyable: true };

type Pairs = readonly (readonly [id: string, key: string | null])[];
interface Row {
  readonly row: string;
  readonly source: Pairs;
  readonly enrolled: Pairs;
  readonly ownership?: Ownership;
  readonly sourcePolicy?: PlanInput['sourcePolicy'];
  readonly enrollmentPolicy?: PlanInput['enrollmentPolicy'];
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const same = (...ids: readonly string[]): Pairs => ids.map((id) => [id, id]);
const failing = (side: string): Pairs => [...same('common', `${side}1`, `${side}2`), [`error-${side}`, null]];
const valid = (side: string): Pairs => same('common', `${side}1`, `${side}2`);
const withProperties = {
  source: [
    ['instance-1', '1'],
    ['instance-2', null],
    ['instance-3', null],
  ],
  enrolled: same('2', '3', '4'),
  ownership: untagged,
} satisfies Partial<Row>;
const unreadable = {
  source: [
    ['instance-1', '1'],
    ['instance-2', '2'],
    ['instance-3', '3'],
  ],
  enrolled: [
    ['instance-1', '1'],
    ['instance-2', null],
    ['instance-3', null],
    ['instance-4', '4'],
  ],
  ownership: untagged,
} satisfies Partial<Row>;
const bothBroken = { source: failing('a'), enrolled: failing('b') };
const [DD, ED, DP, EP] = ['DisableDestroy', 'EnableDestroy', 'DisableProvision', 'EnableProvision'] as const;
const a12 = ['a1', 'a2'];
const b12 = ['b1', 'b2'];

const rows: readonly Row[] = [
  {
    row: '7',
    source: same('h1', 'h2', 'h3'),
    enrolled: [
      ['nfs1', 'h1'],
      ['nfs2', 'h2'],
      ['nfs5', 'h5'],
    ],
    add: ['h3'],
    remove: ['nfs5'],
  },
  {
    row: '9',
    source: [
      ['instance-1', '1'],
      ['instance-2', '2'],
      ['instance-3', '3'],
    ],
    enrolled: same('1', '2', '4'),
    ownership: untagged,
    add: ['instance-3'],
    remove: ['4'],
  },
  { row: '10 DD', ...withProperties, sourcePolicy: DD, add: ['instance-1'], remove: [] },
  { row: '11 ED', ...withProperties, sourcePolicy: ED, add: ['instance-1'], remove: ['2', '3', '4'] },
  { row: '10/11 unnamed is Quarantine (Law 5)', ...withProperties, add: ['instance-1'], remove: [] },
  {
    row: '12 EP',
    ...unreadable,
    enrollmentPolicy: EP,
    add: ['instance-2', 'instance-3'],
    remove: ['instance-4'],
  },
  { row: '13 DP', ...unreadable, enrollmentPolicy: DP, add: [], remove: ['instance-4'] },
  {
    row: '12/13 unnamed: untagged entries without a key are foreign (Law 4)',
    ...unreadable,
    add: ['instance-2', 'instance-3'],
    remove: ['instance-4'],
  },
  {
    row: '12/13 unnamed, entries of ours: Quarantine (Law 5)',
    ...unreadable,
    ownership: ours,
    add: [],
    remove: ['instance-4'],
  },
  {
    row: '17 ED EP',
    source: same('1', '2', '3', '4', '5'),
    enrolled: same('2', '3', '5', '6'),
    sourcePolicy: ED,
    enrollmentPolicy: EP,
    add: ['1', '4'],
    remove: ['6'],
  },
  ...[ED, DD, 'Quarantine' as const].flatMap((sourcePolicy) =>
    [EP, DP, 'Quarantine' as const].map((enrollmentPolicy) => ({
      row: `18 ${sourcePolicy} ${enrollmentPolicy}`,
      source: valid('a'),
      enrolled: valid('b'),
      sourcePolicy,
      enrollmentPolicy,
      add: a12,
      remove: b12,
    })),
  ),
  { row: '19 DD', source: failing('a'), enrolled: valid('b'), sourcePolicy: DD, add: a12, remove: [] },
  { row: '20 ED', source: failing('a'), enrolled: valid('b'), sourcePolicy: ED, add: a12, remove: b12 },
  { row: '21 DP', source: valid('a'), enrolled: failing('b'), enrollmentPolicy: DP, add: [], remove: b12 },
  { row: '22 EP', source: valid('a'), enrolled: failing('b'), enrollmentPolicy: EP, add: a12, remove: b12 },
  { row: '23 DD DP', ...bothBroken, sourcePolicy: DD, enrollmentPolicy: DP, add: [], remove: [] },
  { row: '24 ED DP', ...bothBroken, sourcePolicy: ED, enrollmentPolicy: DP, add: [], remove: b12 },
  { row: '25 DD EP', ...bothBroken, sourcePolicy: DD, enrollmentPolicy: EP, add: a12, remove: [] },
  { row: '26 ED EP', ...bothBroken, sourcePolicy: ED, enrollmentPolicy: EP, add: a12, remove: b12 },
  { row: '23–26 unnamed is Quarantine (Law 5)', ...bothBroken, add: [], remove: [] },
  {
    row: '27 DD DP',
    source: ['0', '1', '2', '3', '4'].map((id) => [`${id}x`, id] as const),
    enrolled: same('0', '2', '3', '5', '6'),
    sourcePolicy: DD,
    enrollmentPolicy: DP,
    add: ['1x', '4x'],
    remove: ['5', '6'],
  },
];

describe('EI §1.14: the catalogue on the pure plan', () => {
  it.each(rows)('row $row', ({ source, enrolled, ownership = ours, sourcePolicy, enrollmentPolicy, add, remove }) => {
    const entries = source.map(([id, text]): DesiredEntry => ({ id, key: key(text) }));
    const observed = enrolled.map(([id, text]): ObservedEntry => ({ id, key: key(text), ownership }));
    const { acts } = plan({
      source: { kind: 'known', entries },
      observed,
      ...(sourcePolicy !== undefined && { sourcePolicy }),
      ...(enrollmentPolicy !== undefined && { enrollmentPolicy }),
    });
    expect(acts.flatMap((act) => (act.kind === 'create' ? [act.sourceId] : []))).toEqual(add);
    expect(acts.flatMap((act) => (act.kind === 'destroy' ? [act.id] : []))).toEqual(remove);
  });
});
