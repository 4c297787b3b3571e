import type { ObjectState } from '@infrakit/spi';
import { describe, expect, it } from 'vitest';
import { watchState } from './health.ts';

const state = (...conditions: ObjectState['conditions']): ObjectState => ({
  kind: 'group',
  revision: 1,
  specHash: 'h',
  conditions,
  counts: {},
  digest: 'd',
});

describe('the health of a plugin (Law 10)', () => {
  it('is what its objects last told, passed on unchanged, with the age of it', () => {
    let nowMs = 1_000;
    const passed: string[] = [];
    const { state: port, health } = watchState(
      {
        publish: (object) => void passed.push(`publish ${object}`),
        clear: (object) => void passed.push(`clear ${object}`),
      },
      () => nowMs,
    );
    port.publish('cattle', state({ type: 'Ready', isTrue: false, reason: 'sink: gone', sinceMs: 400 }));
    port.publish('miners', state());
    nowMs = 3_000;
    expect(health()).toEqual([
      { object: 'cattle', isReady: false, reason: 'sink: gone', ageMs: 2_600 },
      { object: 'miners', isReady: true, reason: '', ageMs: 2_000 },
    ]);
    port.clear('cattle');
    expect(health().map(({ object }) => object)).toEqual(['miners']);
    expect(passed).toEqual(['publish cattle', 'publish miners', 'clear cattle']);
  });
});
