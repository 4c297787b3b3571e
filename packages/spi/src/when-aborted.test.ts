import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { whenAborted } from './when-aborted.ts';

describe('whenAborted', () => {
  it('calls all that wait once, in order, and none that was forgotten', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    whenAborted(controller.signal, () => calls.push('a'));
    const forget = whenAborted(controller.signal, () => calls.push('forgotten'));
    whenAborted(controller.signal, () => calls.push('b'));
    forget();
    controller.abort();
    controller.abort();
    expect(calls).toEqual(['a', 'b']);
  });

  it('adds one listener to a signal, however many wait', () => {
    const controller = new AbortController();
    for (let n = 0; n < 1_000; n++) whenAborted(controller.signal, () => undefined);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  });

  it('a call that forgets another while they are called keeps it from being called', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    whenAborted(controller.signal, () => forget());
    const forget = whenAborted(controller.signal, () => calls.push('forgotten'));
    controller.abort();
    expect(calls).toEqual([]);
  });
});
