import { describe, expect, it } from 'vitest';
import { addressFrom, addressOf, addressOfName, objectName, resolveObject } from './address.ts';

describe('addressOf: kind and metadata.name (GP §0.2, EI §2.4)', () => {
  it.each([
    ['ingress', 'lb1', 'ingress', 'ingress/lb1', 'lb1'],
    ['ingress', 'us-east/lb1', 'ingress', 'us-east/lb1', 'lb1'],
    ['group', 'workers', 'group', 'group/workers', 'workers'],
    ['group', 'us-east/workers', 'group', 'us-east/workers', 'workers'],
    ['simulator/disk', 'disk1', 'simulator', 'simulator/disk', 'disk1'],
    ['simulator/disk', 'us-east/disk1', 'simulator', 'us-east/disk', 'disk1'],
    ['aws/ec2-instance', 'host1', 'aws', 'aws/ec2-instance', 'host1'],
  ])('%s + %s', (specKind, name, kind, endpoint, instance) => {
    expect(addressOf({ kind: specKind, metadata: { name } })).toEqual({ kind, endpoint, instance });
    expect(addressOf({ kind: specKind, metadata: { name, id: 'own' } })).toEqual({ kind, endpoint, instance: 'own' });
  });

  it('keeps everything after the first slash of a name, so that two names never share an address', () => {
    expect(addressOf({ kind: 'group', metadata: { name: 'a/b/c' } })).toEqual({
      kind: 'group',
      endpoint: 'a/b/c',
      instance: 'b/c',
    });
  });
});

describe('addressFrom: kind, plugin name, instance (GP §0.2)', () => {
  it.each([
    ['group', 'group-stateless', '', 'group/group-stateless', 'group-stateless'],
    ['group', 'group-stateless', 'mygroup', 'group/group-stateless', 'mygroup'],
    ['group', 'group-stateless/', '', 'group-stateless', ''],
    ['group', 'group-stateless/', 'mygroup', 'group-stateless/mygroup', 'mygroup'],
    ['simulator/disk', 'us-east/', 'disk1', 'us-east/disk', 'disk1'],
  ])('(%s, %s, %j)', (kind, name, given, endpoint, instance) => {
    expect(addressFrom(kind, name, given)).toEqual({ kind: kind.split('/')[0], endpoint, instance });
  });

  it('takes the kind from a bare name', () => {
    expect(addressOfName('swarm/manager')).toEqual({ kind: 'swarm', endpoint: 'swarm/manager', instance: 'manager' });
    expect(addressOfName('swarm')).toEqual({ kind: 'swarm', endpoint: 'swarm', instance: '' });
  });

  it('refuses an empty name instead of crashing (GP-G24)', () => {
    for (const attempt of [
      () => addressFrom('group', ''),
      () => addressOfName(''),
      () => addressOf({ kind: 'group', metadata: { name: '' } }),
    ]) {
      expect(attempt).toThrow(expect.objectContaining({ code: 'NAME_INVALID', message: 'a name must not be empty' }));
    }
  });
});

describe('resolveObject: one object of a plugin (EI §2.4 [WANT])', () => {
  const objects = new Set(['', 'builders', 'nfs', 'a/b', 'b', 'x']);
  it.each([
    ['nfs', ''],
    ['nfs/', ''],
    ['nfs/builders', 'builders'],
    ['nfs/nfs', 'nfs'],
    ['nfs/a/b', 'a/b'],
    ['nfs/team/x', 'x'],
    ['nfs/team/a/b', 'a/b'],
  ])('%s means %j', (name, object) => {
    expect(resolveObject(name, objects)).toBe(object);
  });

  it.each([
    ['nfs/none', objects, 'not found: nfs/none (key=none)'],
    ['nfs/team/none', objects, 'not found: nfs/team/none (key=team/none)'],
    ['nfs/builders/none', objects, 'not found: nfs/builders/none (key=builders/none)'],
    ['nfs', new Set(['only']), 'not found: nfs (key=)'],
    ['nfs/other', new Set(['only']), 'not found: nfs/other (key=other)'],
    ['nfs/a/', new Set(['']), 'not found: nfs/a/ (key=a/)'],
  ])(
    '%s is refused: no lone object answers to any name (GP-S2), a rule called like the lookup hides nothing (EI-C8)',
    (name, known, message) => {
      expect(() => resolveObject(name, known)).toThrow(expect.objectContaining({ code: 'OBJECT_UNKNOWN', message }));
    },
  );
});

describe('objectName: the stored name of a rule (EI §2.4 [WANT])', () => {
  it.each([
    ['builders', 'builders'],
    ['nfs/builders', 'builders'],
    ['nfs/a/b', 'a/b'],
  ])('%s at nfs is %s', (name, stored) => {
    expect(objectName('nfs', name)).toBe(stored);
  });

  it.each([
    ['', 'a name must not be empty'],
    ['nfs/', 'a name must not be empty'],
    ['efs/builders', 'efs/builders belongs to efs, not to nfs'],
  ])('refuses %j at nfs', (name, message) => {
    expect(() => objectName('nfs', name)).toThrow(expect.objectContaining({ code: 'NAME_INVALID', message }));
  });
});
