import { describe, expect, it } from 'vitest';
import { brokerRights, isGuest, type Principal } from './broker-rights.ts';

const local: Principal = { kind: 'local' };
const full: Principal = { kind: 'user', name: 'ops', role: 'full' };
const guests: Principal[] = [{ kind: 'anonymous' }, { kind: 'user', name: 'eve', role: 'read-only' }];
const rightsOf = brokerRights('stack/one');

describe('the rights of DESIGN §3', () => {
  it.each([local, full])('$kind $role: everything, but the broker’s own topics are nobody’s to write', (principal) => {
    const { mayPublish, mayReceive } = rightsOf(principal);
    expect(isGuest(principal)).toBe(false);
    for (const topic of ['stack/one/rpc/group/-/Group.Commit', 'anything', '$share/x']) {
      expect(mayPublish(topic)).toBe(true);
      expect(mayReceive(topic)).toBe(true);
    }
    for (const topic of ['$SYS', '$SYS/broker/uptime', '$SYS/other']) expect(mayPublish(topic)).toBe(false);
    expect(mayReceive('$SYS/broker/uptime')).toBe(true);
    expect(mayReceive('$SYS/8f2d/new/clients')).toBe(false);
  });

  it.each(guests)('$kind $role: receives plugins, events, state and members, publishes nothing', (principal) => {
    const { mayPublish, mayReceive } = rightsOf(principal);
    expect(isGuest(principal)).toBe(true);
    for (const family of ['plugins', 'events', 'state', 'members']) {
      expect(mayReceive(`stack/one/${family}/x/y`)).toBe(true);
      expect(mayReceive(`stack/two/${family}/x/y`)).toBe(false);
      expect(mayReceive(`stack/one/${family}`)).toBe(false);
      expect(mayPublish(`stack/one/${family}/x/y`)).toBe(false);
    }
    for (const topic of [
      'stack/one/processes/n',
      'stack/one/rpc/a/b/c',
      'stack/one/reply/c',
      'x',
      '$SYS/broker/uptime',
    ]) {
      expect(mayReceive(topic)).toBe(false);
      expect(mayPublish(topic)).toBe(false);
    }
  });
});
