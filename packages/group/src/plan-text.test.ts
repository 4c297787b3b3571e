import { describe, expect, test } from 'vitest';
import { type GroupChange, planText } from './plan-text.ts';

const rows: [string, GroupChange, string][] = [
  ['new', { before: null, after: 5, current: 0, outdated: 0 }, 'Managing 5 instances'],
  ['S8', { before: 1, after: 1, current: 1, outdated: 0 }, 'Noop'],
  ['S9', { before: 1, after: 1, current: 0, outdated: 1 }, 'Performing a rolling update on 1 instances'],
  ['S10', { before: 2, after: 1, current: 2, outdated: 0 }, 'Terminating 1 instances to reduce the group size to 1'],
  [
    'S11',
    { before: 2, after: 1, current: 0, outdated: 2 },
    'Terminating 1 instances to reduce the group size to 1, then performing a rolling update on 1 instances',
  ],
  ['S12', { before: 1, after: 2, current: 1, outdated: 0 }, 'Adding 1 instances to increase the group size to 2'],
  [
    'S13',
    { before: 1, after: 2, current: 0, outdated: 1 },
    'Performing a rolling update on 1 instances, then adding 1 instances to increase the group size to 2',
  ],
  [
    'I9, E2',
    { before: 5, after: 10, current: 0, outdated: 5 },
    'Performing a rolling update on 5 instances, then adding 5 instances to increase the group size to 10',
  ],
  ['I10', { before: 3, after: 8, current: 3, outdated: 0 }, 'Adding 5 instances to increase the group size to 8'],
  ['I11', { before: 3, after: 1, current: 3, outdated: 0 }, 'Terminating 2 instances to reduce the group size to 1'],
  [
    'a shrink that leaves fewer than the current members rolls nobody',
    { before: 5, after: 2, current: 3, outdated: 2 },
    'Terminating 3 instances to reduce the group size to 2',
  ],
  ['G-6', { before: 2, after: 0, current: 2, outdated: 0 }, 'Terminating 2 instances to reduce the group size to 0'],
];

describe('plan texts (GP §1.7)', () => {
  test.each(rows)('%s', (_row, change, text) => {
    expect(planText(change)).toBe(text);
  });
});
