import { describe, expect, it } from 'vitest';
import { reservedTags } from '../value/tags.ts';
import { type OwnershipFacts, ownerLabel, ownershipOf, ownerTags } from './owner.ts';

const owner = ownerLabel('mystack-7f', 'enrollment', 'nfs');
const facts: OwnershipFacts = {
  owner,
  rule: 'nfs',
  keyKnown: true,
  adopted: false,
  allowUntaggedDestroy: false,
  storedSpecsBack: true,
};

describe('Law 4: whose an entry is', () => {
  it('the owner label is <stack id>/<controller>/<rule>, and two owners never share one', () => {
    expect(owner).toBe('mystack-7f/enrollment/nfs');
    expect(ownerLabel('s', 'enrollment', 'nfs/builders')).toBe('s/enrollment/nfs/builders');
    const bad: [string, string, string][] = [
      ['a/b', 'c', 'd'],
      ['a', 'b/c', 'd'],
      ['', 'c', 'd'],
      ['a', '', 'd'],
      ['a', 'b', ''],
    ];
    for (const parts of bad) {
      expect(() => ownerLabel(...parts)).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }));
    }
  });

  it('the labels we write make an entry ours; the old ones stay beside ours, a new object each time (EI-E2)', () => {
    const tags = ownerTags(owner, 'nfs', 'h3');
    expect(tags).toEqual({
      'infrakit.enrollment.owner': owner,
      'infrakit.enrollment.name': 'nfs',
      'infrakit.enrollment.sourceID': 'h3',
    });
    expect(ownershipOf(tags, facts)).toEqual({ kind: 'ours' });
    expect(ownerTags(owner, 'nfs', 'h3')).not.toBe(tags);
    expect(ownerTags(owner, 'nfs')).not.toHaveProperty(reservedTags.enrollmentSourceId);
  });

  it('the owner label decides, even against the old name label', () => {
    const tags = { [reservedTags.enrollmentOwner]: 'other/enrollment/nfs', [reservedTags.enrollmentName]: 'nfs' };
    expect(ownershipOf(tags, facts)).toEqual({ kind: 'foreign', owner: 'other/enrollment/nfs' });
    const renamed = { [reservedTags.enrollmentOwner]: owner, [reservedTags.enrollmentName]: 'old' };
    expect(ownershipOf(renamed, facts)).toEqual({ kind: 'ours' });
  });

  it('only the old name label: ours to relabel, judged once all stored specs are back; EI-E5: of another rule, foreign', () => {
    const tags = { [reservedTags.enrollmentName]: 'nfs' };
    expect(ownershipOf(tags, facts)).toEqual({ kind: 'named', judged: true });
    expect(ownershipOf(tags, { ...facts, storedSpecsBack: false })).toEqual({ kind: 'named', judged: false });
    expect(ownershipOf({ [reservedTags.enrollmentName]: 'other' }, facts)).toEqual({ kind: 'foreign', owner: 'other' });
  });

  it('untagged: enrolled where its key is known, destroyed only after adoption or with AllowUntaggedDestroy', () => {
    const untagged = { kind: 'untagged', adopted: false, destroyable: false };
    expect(ownershipOf(null, facts)).toEqual(untagged);
    expect(ownershipOf({ [reservedTags.enrollmentSourceId]: 'h1' }, facts)).toEqual(untagged);
    expect(ownershipOf({}, { ...facts, adopted: true })).toEqual({ ...untagged, adopted: true });
    expect(ownershipOf({}, { ...facts, allowUntaggedDestroy: true })).toEqual({ ...untagged, destroyable: true });
    const broken = ownershipOf({}, { ...facts, keyKnown: false, allowUntaggedDestroy: true });
    expect(broken).toEqual({ ...untagged, destroyable: true });
    expect(ownershipOf({}, { ...facts, keyKnown: false, adopted: true })).toEqual({ kind: 'foreign' });
  });

  it('a tag that an object merely inherits is none', () => {
    expect(ownershipOf(Object.create({ [reservedTags.enrollmentOwner]: owner }), facts).kind).toBe('untagged');
  });
});
