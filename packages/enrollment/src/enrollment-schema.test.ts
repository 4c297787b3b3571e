import { decodePart, readDocument, toYaml } from '@infrakit/document';
import { describe, expect, test } from 'vitest';
import { readList } from './enrollment-list.ts';
import { EnrollmentOptions, EnrollmentProperties, optionsInForce } from './enrollment-schema.ts';

const options = (value: object) => decodePart('options', value, EnrollmentOptions);
const faults = (value: object): readonly string[] => options(value).faults;

describe('EI §1.5: options', () => {
  test('1: the defaults; unnamed policies are Quarantine (Law 5), not the old Enable…', () => {
    expect(optionsInForce()).toMatchObject({
      SyncInterval: 5_000,
      SourceParseErrPolicy: 'Quarantine',
      EnrollmentParseErrPolicy: 'Quarantine',
      DestroyOnTerminate: false,
      MaxDestroyPercent: 30,
      MaxDestroyFloor: 3,
      Order: 'adds-first',
      AllowUntaggedDestroy: false,
    });
  });

  test.each(
    ['EnableDestroy', 'DisableDestroy'].flatMap((source) =>
      ['EnableProvision', 'DisableProvision'].map((enrollment) => [source, enrollment] as const),
    ),
  )('2, 5, 33: %s and %s are kept, with an interval of 10 s', (SourceParseErrPolicy, EnrollmentParseErrPolicy) => {
    const given = { SyncInterval: '10s', SourceParseErrPolicy, EnrollmentParseErrPolicy };
    expect(options(given).value).toMatchObject({ ...given, SyncInterval: 10_000 });
  });

  test.each([
    ['3, 34, E-7', { SyncInterval: '-1s' }, 'SyncInterval must be greater than 0'],
    ['3', { SyncInterval: '0s' }, 'SyncInterval must be greater than 0'],
    [
      '4, 35',
      { SourceParseErrPolicy: 'bogus-SourceParseErrPolicy' },
      "SourceParseErrPolicy value 'bogus-SourceParseErrPolicy' is not supported, valid values: [EnableDestroy DisableDestroy]",
    ],
    [
      '36',
      { EnrollmentParseErrPolicy: 'bogus-EnrollmentParseErrPolicy' },
      "EnrollmentParseErrPolicy value 'bogus-EnrollmentParseErrPolicy' is not supported, valid values: [EnableProvision DisableProvision]",
    ],
    [
      'an explicitly empty policy',
      { SourceParseErrPolicy: '' },
      "SourceParseErrPolicy value '' is not supported, valid values: [EnableDestroy DisableDestroy]",
    ],
  ])('%s: refused with exactly one sentence', (_, given, sentence) => {
    expect(faults(given)).toEqual([sentence]);
  });

  test('all faults come at once, and an unknown option names the nearest', () => {
    expect(faults({ SyncInterval: '5', Orderr: 'adds-first', MaxDestroyPercent: 101 })).toEqual([
      expect.stringContaining('missing unit in duration'),
      'options.Orderr: unknown field, did you mean `Order`?',
      expect.stringContaining('at most 100'),
    ]);
  });

  test('§0.1: fields match in any case; T-8: null means left out', () => {
    expect(options({ syncinterval: '1m', SOURCEKEYSELECTOR: 'x', DestroyOnTerminate: null }).value).toEqual({
      SyncInterval: 60_000,
      SourceKeySelector: 'x',
      DestroyOnTerminate: undefined,
    });
  });

  test('§1.2: a later layer goes before an earlier one, and what it leaves out stays', () => {
    const layers = [{ SyncInterval: 7_000, DestroyOnTerminate: true }, { SyncInterval: 9_000 }, {}];
    expect(optionsInForce(...layers)).toMatchObject({ SyncInterval: 9_000, DestroyOnTerminate: true });
  });
});

describe('EI §1.3, §1.4: properties and their list', () => {
  const properties = {
    List: [{ ID: 'host1' }, { ID: 'host2' }],
    Instance: { Plugin: 'simulator/compute', Properties: 'test' },
  };

  test('28: written as YAML and read again, the list is the same', () => {
    const text = toYaml(properties);
    const { root } = readDocument(text, { file: 'x.yml' });
    expect(root.kind).toBe('map');
    const { value } = decodePart('properties', properties, EnrollmentProperties);
    expect(value?.List).toEqual(properties.List);
    expect(readList(value?.List).value).toEqual({
      kind: 'static',
      items: [
        { ID: 'host1', LogicalID: null, Tags: null },
        { ID: 'host2', LogicalID: null, Tags: null },
      ],
    });
  });

  test('29: a list of four; its fields match in any case', () => {
    const list = [{ ID: 'host1' }, { id: 'host2' }, { ID: 'host3', properties: { a: 1 } }, { ID: 'host4' }];
    const { value } = readList(list);
    if (value?.kind !== 'static') throw new Error('not a static list');
    expect(value.items.map(({ ID }) => ID)).toEqual(['host1', 'host2', 'host3', 'host4']);
    expect(value.items[2]?.Properties).toEqual({ a: 1 });
  });

  test('30: a name is a group', () => {
    expect(readList('us-east/workers').value).toEqual({ kind: 'group', plugin: 'us-east/workers', group: 'workers' });
    expect(readList('a/b/c').value).toEqual({ kind: 'group', plugin: 'a/b/c', group: 'b/c' });
  });

  test('E-3: an explicit empty list is legal', () => {
    expect(readList([]).value).toEqual({ kind: 'static', items: [] });
  });

  test.each([
    ['nothing', undefined, 'List is missing'],
    ['null', null, 'List is missing'],
    ['a name without a group', 'workers', 'List must name a group as <plugin>/<group>'],
    ['a name with an empty group', 'group/', 'List must name a group as <plugin>/<group>'],
    ['a name with an empty plugin', '/workers', 'List must name a group as <plugin>/<group>'],
    ['a number', 3, 'no list source specified'],
    ['a boolean', true, 'no list source specified'],
    ['an object', { ID: 'h1' }, 'no list source specified'],
    ['an element that is no map', [{ ID: 'h1' }, 'h2'], 'no list source specified'],
    ['an element without an ID', [{}], 'properties.List[0].ID: missing'],
    ['an unknown field of an element', [{ ID: 'h1', Tag: {} }], 'did you mean `Tags`?'],
    ['an ID twice', [{ ID: 'h1' }, { ID: 'h1' }], 'more than one entry has the ID h1'],
  ])('E-3, E-24: %s is refused', (_, list, sentence) => {
    expect(readList(list).faults.join('\n')).toContain(sentence);
  });
});
