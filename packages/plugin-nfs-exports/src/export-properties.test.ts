import { describe, expect, test } from 'vitest';
import { exportLine, parseExport } from './export-properties.ts';
import { tableNames } from './table-name.ts';

describe('the properties of an export', () => {
  test.each([
    [{ Path: '/srv/a', Client: '10.0.0.5' }, '/srv/a 10.0.0.5(rw,no_subtree_check)'],
    [{ Path: '/srv/a b', Client: '@hosts', Options: ['ro', 'anonuid=65534'] }, '"/srv/a b" @hosts(ro,anonuid=65534)'],
    [
      { Path: '/srv/a#1', Client: '*.example.org', Options: ['sec=krb5:sys'] },
      '"/srv/a#1" *.example.org(sec=krb5:sys)',
    ],
  ])('%j is one line', (properties, line) => {
    expect(exportLine(parseExport(properties))).toBe(line);
  });

  test.each([
    [{ Path: 'srv', Client: '10.0.0.5' }, 'Path'],
    [{ Path: '/srv/../etc', Client: '10.0.0.5' }, 'Path'],
    [{ Path: '/srv" /etc *(rw) "', Client: '10.0.0.5' }, 'Path'],
    [{ Path: '/srv', Client: '10.0.0.5(rw) *' }, 'Client'],
    [{ Path: '/srv', Client: '10.0.0.0/64' }, 'Client'],
    [{ Path: '/srv', Client: '' }, 'Client'],
    [{ Path: '/srv', Client: '10.0.0.5', Options: ['rw)\n/etc *(rw'] }, 'Options[0]'],
    [{ Path: '/srv', Client: '10.0.0.5', Options: ['fsid=x y'] }, 'Options[0]'],
    [{ Path: '/srv', Client: '10.0.0.5', Optoins: [] }, 'Optoins: unknown field, did you mean `Options`?'],
  ])('%j is refused, naming %s', (properties, named) => {
    expect(() => parseExport(properties)).toThrow(named);
  });

  test.each([
    ['/srv/a b', '/srv/a\\040b 10.0.0.5'],
    ['/srv/a#b', '/srv/a#b 10.0.0.5'],
  ])('%j is found in the table as exportfs writes it', async (Path, listed) => {
    const properties = parseExport({ Path, Client: '10.0.0.5' });
    expect(await tableNames().isListed(properties, new Set([listed]))).toBe(true);
    expect(await tableNames().isListed(properties, new Set(['/srv/other 10.0.0.5']))).toBe(false);
  });
});
