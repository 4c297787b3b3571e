import { describe, expect, it } from 'vitest';
import { bootstrapHash, reservedTags } from '../value/tags.ts';
import { bindLogicalIds, bindSlots, type SlotContext, type SlotMember } from './slots.ts';

const configHash = 'new';
interface Given {
  readonly slot?: string;
  readonly hash?: string | null;
  readonly health?: SlotMember['health'];
  readonly createdMs?: number;
  readonly logicalId?: string;
}
const member = (
  id: string,
  { slot, hash = configHash, health = 'healthy', createdMs, logicalId }: Given = {},
): SlotMember => ({
  id,
  health,
  tags: {
    ...(slot !== undefined && { [reservedTags.slot]: slot }),
    ...(hash !== null && { [reservedTags.configHash]: hash }),
  },
  ...(createdMs !== undefined && { createdMs }),
  ...(logicalId !== undefined && { logicalId }),
});
const bind = (size: number, members: SlotMember[], rest: Partial<SlotContext> = {}) =>
  bindSlots({ size, members, configHash, ...rest });
const shown = ({ slots }: ReturnType<typeof bindSlots>) =>
  slots.map(({ slot, memberId, adopt }) => `${slot}:${memberId ?? '-'}${adopt ? '!' : ''}`);

describe('slots: binding', () => {
  it('a new group has its lowest slots empty', () => {
    expect(shown(bind(3, []))).toEqual(['0:-', '1:-', '2:-']);
    expect(bind(0, [member('a')])).toEqual({ slots: [], victims: ['a'] });
  });

  it('GP-G14: a replacement gets the slot of the member it replaces', () => {
    expect(shown(bind(3, [member('a', { slot: '0' }), member('c', { slot: '2' })]))).toEqual(['0:a', '1:-', '2:c']);
  });

  it('sparse slots are never renumbered, and new ones take the lowest free numbers', () => {
    const sparse = [member('a', { slot: '7' }), member('b', { slot: '2' })];
    expect(shown(bind(2, sparse))).toEqual(['2:b', '7:a']);
    expect(shown(bind(4, sparse))).toEqual(['0:-', '1:-', '2:b', '7:a']);
  });

  it('members without a valid slot tag are adopted into free slots by id', () => {
    const members = [member('c', { slot: '-1' }), member('b', { slot: '01' }), member('a', { slot: '1' }), member('d')];
    expect(shown(bind(4, members))).toEqual(['0:b!', '1:a', '2:c!', '3:d!']);
    expect(shown(bind(1, [{ id: 'a', health: 'unknown', tags: null }]))).toEqual(['0:a!']);
    expect(shown(bind(2, [member('a', { hash: 'old' }), member('b')]))).toEqual(['0:a!', '1:b!']);
  });

  it.each<[string, Given, Given]>([
    ['has the present configuration', { hash: 'old' }, {}],
    ['is healthy', { health: 'unknown' }, {}],
    ['is the oldest', { createdMs: 2 }, { createdMs: 1 }],
    ['tells its age', {}, { createdMs: 1 }],
  ])('of two members with one slot, the one that %s keeps it', (_, loses, keeps) => {
    const members = [member('a', { slot: '0', ...loses }), member('b', { slot: '0', ...keeps })];
    expect(shown(bind(2, members))).toEqual(['0:b', '1:a!']);
  });

  it('of two equal members with one slot, the smaller id keeps it', () => {
    expect(shown(bind(2, [member('b', { slot: '0' }), member('a', { slot: '0' })]))).toEqual(['0:a', '1:b!']);
  });
});

describe('slots: victims', () => {
  const crowd = [
    member('a'),
    member('b', { health: 'unhealthy' }),
    member('c', { hash: 'old' }),
    member('d', { hash: null }),
    member('e', { health: 'unknown' }),
    member('f'),
  ];

  it('GP-G2: condemned first, then outdated, then unhealthy, then by id', () => {
    expect(bind(0, crowd, { condemned: new Set(['f']) }).victims).toEqual(['f', 'c', 'd', 'b', 'a', 'e']);
    expect(bind(3, crowd).victims).toEqual(['c', 'd', 'b']);
  });

  it('GP §1.12 S3: of equal members the lowest ids go', () => {
    expect(
      bind(
        2,
        ['c', 'a', 'd', 'b'].map((id) => member(id)),
      ).victims,
    ).toEqual(['a', 'b']);
  });

  it('the condemned go whatever the size is, and are replaced', () => {
    const bound = bind(3, [member('a', { slot: '0' }), member('b', { slot: '1' })], { condemned: new Set(['b']) });
    expect(bound.victims).toEqual(['b']);
    expect(shown(bound)).toEqual(['0:a', '1:-', '2:-']);
  });

  it('a member to be adopted is not outdated', () => {
    expect(bind(1, [member('a', { hash: bootstrapHash }), member('b', { hash: 'old' })]).victims).toEqual(['b']);
  });

  it('GP-G1: our own host goes only when no other is left, however outdated, and last', () => {
    const self = member('a', { hash: 'old', health: 'unhealthy', logicalId: 'me' });
    const rest = { selfId: 'me' };
    expect(bind(1, [self, member('b')], rest).victims).toEqual(['b']);
    expect(bind(0, [self, member('b')], rest).victims).toEqual(['b', 'a']);
    const tagged: SlotMember = { ...member('a'), tags: { [reservedTags.logicalId]: 'me' } };
    expect(bind(0, [tagged, member('b')], rest).victims).toEqual(['b', 'a']);
  });
});

describe('slots named by logical ids', () => {
  const bindIds = (logicalIds: string[], members: SlotMember[], condemned?: string[]) =>
    bindLogicalIds({ logicalIds, members, configHash, ...(condemned && { condemned: new Set(condemned) }) });

  it('GP §1.12 Q2, Q3: a missing id is made, a member with another id goes', () => {
    const members = ['one', 'two', 'four'].map((id) => member(`m-${id}`, { logicalId: id }));
    const { slots, victims } = bindIds(['one', 'two', 'three'], members);
    expect(slots).toEqual([
      { slot: 'one', memberId: 'm-one', adopt: false },
      { slot: 'two', memberId: 'm-two', adopt: false },
      { slot: 'three', memberId: null, adopt: false },
    ]);
    expect(victims).toEqual(['m-four']);
  });

  it('GP-G8: of two members with one id one stays; members without an id are reported and left alone', () => {
    const members = [member('a', { logicalId: 'x', hash: 'old' }), member('b', { logicalId: 'x' }), member('c')];
    const { slots, victims, unidentified } = bindIds(['x'], members);
    expect(slots.map(({ memberId }) => memberId)).toEqual(['b']);
    expect(victims).toEqual(['a']);
    expect(unidentified).toEqual(['c']);
    expect(bindIds(['x'], members, ['b', 'c'])).toMatchObject({ victims: ['b', 'c'], unidentified: [] });
  });
});
