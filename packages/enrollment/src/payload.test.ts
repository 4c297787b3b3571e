import { AppError } from '@infrakit/core';
import { describe, expect, test } from 'vitest';
import { compilePayload } from './payload.ts';

const ids = { owner: 'stack/nfs/builders', rule: 'builders' };
const item = (over: object = {}) => ({ ID: 'n1', LogicalID: null, Tags: null, ...over });
const propertiesOf = (Properties: unknown, over: object = {}): unknown =>
  compilePayload({ Properties }, ids).specOf(item(over)).Properties;

describe('EI §1.10: what is provisioned', () => {
  test('A of §1.13: properties, labels, and the labels that make it ours', () => {
    const payload = compilePayload(
      { Labels: { team: 'ci' }, Properties: { client: '\\{\\{ .ID \\}\\}', mode: 'rw' } },
      ids,
    );
    expect(payload.specOf(item())).toEqual({
      Properties: { client: 'n1', mode: 'rw' },
      Tags: {
        team: 'ci',
        'infrakit.enrollment.owner': 'stack/nfs/builders',
        'infrakit.enrollment.name': 'builders',
        'infrakit.enrollment.sourceID': 'n1',
      },
      Init: '',
      LogicalID: null,
      Attachments: null,
    });
  });

  test('keys come out sorted, without blanks', () => {
    expect(JSON.stringify(propertiesOf({ iops: 10, host: '{{.ID}}' }))).toBe('{"host":"n1","iops":10}');
  });

  test('without properties it is the description itself', () => {
    const text = '{"ID":"n1","LogicalID":null,"Tags":null,"Properties":{"slot":7}}';
    for (const nothing of [undefined, null]) {
      expect(JSON.stringify(propertiesOf(nothing, { Properties: { slot: 7 }, Health: 'healthy' }))).toBe(text);
    }
    expect(JSON.stringify(propertiesOf(undefined))).toBe('{"ID":"n1","LogicalID":null,"Tags":null}');
  });

  test('E-2: the tags of each entry are its own, and the labels of the rule stay as they were', () => {
    const Labels = { team: 'ci' };
    const payload = compilePayload({ Labels }, ids);
    const [one, two] = [payload.specOf(item()), payload.specOf(item({ ID: 'n2' }))];
    expect(one.Tags).not.toBe(two.Tags);
    expect(one.Tags['infrakit.enrollment.sourceID']).toBe('n1');
    expect(Labels).toEqual({ team: 'ci' });
  });

  test('the reserved labels win over the labels of the user', () => {
    const Labels = { 'infrakit.enrollment.name': 'mine', 'infrakit.enrollment.sourceID': 'mine' };
    expect(compilePayload({ Labels }, ids).specOf(item()).Tags).toMatchObject({
      'infrakit.enrollment.name': 'builders',
      'infrakit.enrollment.sourceID': 'n1',
    });
  });

  test('E-16: quotes in a template and in a value are safe; keys are rendered; variables are seen in later keys', () => {
    const Tags = { note: 'say "hi" \\ bye' };
    expect(propertiesOf({ a: '\\{\\{ index .Tags "note" \\}\\}' }, { Tags })).toEqual({ a: Tags.note });
    expect(propertiesOf({ '\\{\\{ .ID \\}\\}': 1 })).toEqual({ n1: 1 });
    expect(propertiesOf({ b: '{{ $x }}', a: '{{ $x := .ID }}' })).toEqual({ a: '', b: 'n1' });
  });

  test('E-16: an entry whose properties cannot be rendered says so', () => {
    const payload = compilePayload({ Properties: { nested: { rack: '{{ .Tags.rack }}' } } }, ids);
    expect(() => payload.specOf(item())).toThrow(AppError);
    expect(() => payload.propertiesOf(item())).toThrow('Instance.Properties.nested.rack of n1');
  });

  test.each(['now', 'env "HOME"', 'uuidv4'])('E-17, Law 7: %s would ask for something else each time', (call) => {
    const compile = () => compilePayload({ Properties: { a: `{{ ${call} }}` } }, ids);
    expect(compile).toThrow(/Instance.Properties: function "\w+" is not allowed/);
  });
});
