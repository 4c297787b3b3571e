import { describe, expect, test } from 'vitest';
import { instanceColumns, instanceRow } from './instance-row.ts';
import { tableLines } from './table.ts';

describe('GP §5.3: tables byte for byte', () => {
  const row = instanceRow({ ID: '1542910816123456789', LogicalID: null, Tags: { tier: 'mine', project: 'p' } });

  test('a missing logical id is `  -   `, tags are sorted, the last column is not filled', () => {
    expect(tableLines(instanceColumns, [row], false)).toEqual([
      'ID                            \tLOGICAL                       \tTAGS',
      '1542910816123456789           \t  -                           \tproject=p,tier=mine',
    ]);
  });

  test('quiet: no heading; what is wider than its column is whole', () => {
    const wide = 'x'.repeat(31);
    expect(tableLines([{ heading: 'ID', width: 30 }, { heading: 'TAGS' }], [[wide, 'a=b']], true)).toEqual([
      `${wide}\ta=b`,
    ]);
  });
});
