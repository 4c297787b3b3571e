import { describe, expect, test } from 'vitest';
import { readDocument } from './document.ts';
import { faultUnder, placed } from './place.ts';

const document = readDocument(
  [
    'kind: group',
    'Properties:',
    '  Instance:',
    '    Plugin: simulator/compute',
    '    Properties:',
    '      Ports:',
    '        - Host: 1',
    '      "a.b": 2',
  ].join('\n'),
  { file: 'g.yml' },
);

describe('where a sentence about a spec stands in its file (DESIGN §5: file:line:column and path)', () => {
  test.each([
    ['Instance.Properties.Ports: too many', 'g.yml:6:7: Instance.Properties.Ports: too many'],
    ['Instance.Properties.Ports[0].Host: no', 'g.yml:7:17: Instance.Properties.Ports[0].Host: no'],
    ['Instance.Properties.Ports.0.Host: no', 'g.yml:7:17: Instance.Properties.Ports.0.Host: no'],
    ['instance.properties["a.b"]: no', 'g.yml:8:14: instance.properties["a.b"]: no'],
    ['properties.Instance.Plugin: unknown', 'g.yml:4:13: properties.Instance.Plugin: unknown'],
    ['Invalid properties: Instance.Plugin: no', 'g.yml:4:13: Invalid properties: Instance.Plugin: no'],
    ['kind: unknown', 'g.yml:1:7: kind: unknown'],
  ])('%s', (sentence, expected) => expect(placed(document, sentence)).toBe(expected));

  test('what is missing is told at its nearest parent', () => {
    expect(placed(document, 'Instance.Properties.Image: missing')).toBe(
      'g.yml:5:5: Instance.Properties.Image: missing',
    );
  });

  test.each(['cattle: not that', 'no path here', 'Failed to find Flavor plugin', ''])('%j stays as it is', (sentence) =>
    expect(placed(document, sentence)).toBe(sentence),
  );
});

test('a fault of a part is told from the root of the spec', () => {
  expect(faultUnder('Instance.Properties', 'Ports[0]: no')).toBe('Instance.Properties.Ports[0]: no');
  expect(faultUnder('Instance.Properties', 'either this or that')).toBe('Instance.Properties: either this or that');
});
