import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fifo } from './fifo.ts';

describe('fifo', () => {
  it('behaves like an array under any pushes and shifts', () => {
    const action = fc.oneof(fc.integer(), fc.constant('shift' as const));
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
        const queue = fifo<number>();
        const model: number[] = [];
        for (const act of actions) {
          if (act === 'shift') {
            expect(queue.shift()).toBe(model.shift());
          } else {
            queue.push(act);
            model.push(act);
          }
          expect(queue.size()).toBe(model.length);
        }
      }),
    );
  });
});
