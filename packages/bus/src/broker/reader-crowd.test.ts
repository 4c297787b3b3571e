import { describe, expect, it } from 'vitest';
import { readerCrowd } from './reader-crowd.ts';

const scene = () => {
  let hasRoom = false;
  let fire = (): void => undefined;
  const crowd = readerCrowd(
    () => hasRoom,
    5_000,
    (_ms, task) => {
      fire = task;
      return () => {
        fire = () => undefined;
      };
    },
  );
  let passed = 0;
  return {
    crowd,
    enter: () => crowd.enter(() => (passed += 1)),
    passed: () => passed,
    setRoom: (value: boolean) => {
      hasRoom = value;
    },
    stall: () => fire(),
  };
};

describe('publishers that wait for a reader', () => {
  it('go when there is room again', () => {
    const { crowd, enter, passed, setRoom } = scene();
    enter();
    crowd.progress();
    expect(passed()).toBe(0);
    setRoom(true);
    crowd.progress();
    enter();
    expect(passed()).toBe(2);
  });

  it('do not wait for one that takes nothing for too long, until it takes something', () => {
    const { crowd, enter, passed, stall } = scene();
    enter();
    stall();
    enter();
    expect(passed()).toBe(2);
    crowd.progress();
    enter();
    expect(passed()).toBe(2);
  });

  it('go when it ends', () => {
    const { crowd, enter, passed } = scene();
    enter();
    crowd.end();
    expect(passed()).toBe(1);
  });
});
