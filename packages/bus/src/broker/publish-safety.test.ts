import { describe, expect, it } from 'vitest';
import { publishSafety } from './publish-safety.ts';

describe('the safety of publishes', () => {
  it('comes at once for one that no session holds, else with the last of those that hold it', () => {
    const safety = publishSafety();
    const safe: number[] = [];
    safety.whenSafe(1, () => void safe.push(1));
    const [first, second] = [safety.hold(2), safety.hold(2)];
    safety.whenSafe(2, () => void safe.push(2));
    expect(safe).toEqual([1]);
    second();
    expect(safe).toEqual([1]);
    first();
    expect(safe).toEqual([1, 2]);
  });

  it('that comes before anybody asks is not missed', () => {
    const safety = publishSafety();
    safety.hold(1)();
    let isSafe = false;
    safety.whenSafe(1, () => {
      isSafe = true;
    });
    expect(isSafe).toBe(true);
  });

  it('lets what is to be written with a publish begin when the sessions take it, and only then', () => {
    const safety = publishSafety();
    const begun: number[] = [];
    safety.whenTaken(1, () => void begun.push(1));
    safety.taken(2);
    expect(begun).toEqual([]);
    safety.taken(1);
    safety.taken(1);
    expect(begun).toEqual([1]);
  });
});
