import { parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { canary } from './canary.ts';

const commandOf = (frame: Buffer | null, version: 4 | 5 = 4): string | null => {
  if (frame === null) return null;
  let command = '';
  const reader = parser({ protocolVersion: version });
  reader.on('packet', (packet) => {
    command = packet.cmd;
  });
  reader.parse(frame);
  return command;
};

describe('a probe of a sink (issue 6: health is progress)', () => {
  test.each([4, 5] as const)(
    'MQTT %i: it is sent once allowed, one at a time, and how long it took is told',
    (version) => {
      const probe = canary('us');
      expect(commandOf(probe.subscribe(version), version)).toBe('subscribe');
      expect(probe.release(0, version)).toBeNull();
      probe.granted(0);
      expect(probe.latencyMs()).toBeNull();
      expect(commandOf(probe.release(10, version), version)).toBe('publish');
      probe.back(25);
      expect(probe.latencyMs()).toBe(15);
      expect(commandOf(probe.release(30, version), version)).toBe('publish');
      expect(probe.release(40, version)).toBeNull();
      expect(probe.outSinceMs()).toBe(30);
      probe.back(45);
      expect(probe.outSinceMs()).toBeNull();
    },
  );

  test('a sink that does not let us subscribe is not probed, and never unwell for it', () => {
    const probe = canary('us');
    probe.granted(0x80);
    expect(probe.release(0, 4)).toBeNull();
    expect(probe.outSinceMs()).toBeNull();
  });

  test('one that keeps the first probes to itself is taken to forbid them, over connections too', () => {
    const probe = canary('us');
    probe.granted(0);
    expect(probe.release(0, 4)).not.toBeNull();
    expect(probe.outSinceMs()).toBeNull();
    probe.reset();
    probe.granted(0);
    expect(probe.release(10, 4)).not.toBeNull();
    expect(probe.release(20, 4)).toBeNull();
    expect(probe.release(30, 4)).toBeNull();
    expect(probe.subscribe(4)).toBeNull();
  });

  test('one that has brought some back is unwell when it keeps one, also after a connection that ended', () => {
    const probe = canary('us');
    probe.granted(0);
    probe.release(0, 4);
    probe.back(1);
    for (let connection = 0; connection < 5; connection += 1) {
      probe.release(10, 4);
      expect(probe.outSinceMs()).toBe(10);
      probe.reset();
      expect(probe.outSinceMs()).toBeNull();
      expect(commandOf(probe.subscribe(4))).toBe('subscribe');
      probe.granted(0);
    }
  });
});
