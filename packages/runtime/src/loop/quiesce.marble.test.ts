import { type Observable, Subject } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { quiesce } from './quiesce.ts';

const marbles = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
const joined = { A: ['a'], B: ['b'], C: ['c'], D: ['a', 'b'], E: ['a', 'b', 'c'], F: ['c', 'd'] };

const cases: readonly { title: string; source: string; expected: string; unsubscribe?: string; end?: string }[] = [
  { title: 'an isolated event acts after quiet', source: 'a---------', expected: '---A------' },
  { title: 'a burst closes after quiet of silence', source: 'ab--------', expected: '----D-----' },
  { title: 'two bursts apart are two', source: 'a----b----', expected: '---A----B-' },
  { title: 'maxWait closes a steady stream', source: 'a-b-c-d---', expected: '-----E---X' },
  { title: 'events of one tick are one burst', source: '(abc)-----', expected: '---E------' },
  {
    title: 'an event that ties with the end of silence, delivered first, joins',
    source: 'a--b------',
    expected: '-----D----',
  },
  { title: 'an event that ties with maxWait, delivered first, joins', source: 'a-b--c----', expected: '-----E----' },
  { title: 'completion flushes', source: 'ab|       ', expected: '--(D|)    ' },
  { title: 'completion without an open burst just completes', source: 'a---|     ', expected: '---A|     ' },
  { title: 'completion in the tick of the last event flushes', source: '(a|)      ', expected: '(A|)      ' },
  { title: 'an empty source emits no empty burst', source: '--|       ', expected: '--|       ' },
  { title: 'an error passes at once and drops the open burst', source: 'ab#       ', expected: '--#       ' },
  { title: 'an error after a burst leaves it delivered', source: 'a---#     ', expected: '---A#     ' },
  {
    title: 'unsubscribing stops the open burst',
    source: 'ab--------',
    expected: '----------',
    unsubscribe: '^--!',
    end: '^--!',
  },
];

describe('quiesce(3, 5): issue 2, marble tests', () => {
  it.each(cases)('$title', ({ source, expected, unsubscribe, end }) => {
    marbles().run(({ hot, expectObservable, expectSubscriptions }) => {
      const events = hot(source);
      const values = { ...joined, X: ['d'] };
      expectObservable(events.pipe(quiesce(3, 5)), unsubscribe).toBe(expected, values);
      if (end !== undefined) expectSubscriptions(events.subscriptions).toBe(end);
    });
  });

  it('an event that ties with the close, delivered after it, opens the next burst', () => {
    const scheduler = marbles();
    scheduler.run(({ expectObservable, flush }) => {
      const events = new Subject<string>();
      const bursts: Observable<string[]> = events.pipe(quiesce(3, 5, scheduler));
      expectObservable(bursts).toBe('---A--B', joined);
      scheduler.schedule(() => {
        events.next('a');
        scheduler.schedule(() => events.next('b'), 3);
      });
      flush();
    });
  });

  it('an event sent while a burst is delivered opens the next burst', () => {
    const scheduler = marbles();
    scheduler.run(({ flush }) => {
      const events = new Subject<string>();
      const bursts: { at: number; burst: string[] }[] = [];
      events.pipe(quiesce(3, 5, scheduler)).subscribe((burst) => {
        bursts.push({ at: scheduler.now(), burst });
        if (burst[0] === 'a') events.next('b');
      });
      scheduler.schedule(() => events.next('a'));
      flush();
      expect(bursts).toEqual([
        { at: 3, burst: ['a'] },
        { at: 6, burst: ['b'] },
      ]);
    });
  });

  it('leaves no timer behind after completion, error and unsubscribing', () => {
    const scheduler = marbles();
    scheduler.run(() => {
      const completed = new Subject<string>();
      const failed = new Subject<string>();
      const left = new Subject<string>();
      completed.pipe(quiesce(3, 5, scheduler)).subscribe();
      failed.pipe(quiesce(3, 5, scheduler)).subscribe({ error: () => undefined });
      const subscription = left.pipe(quiesce(3, 5, scheduler)).subscribe();
      for (const source of [completed, failed, left]) source.next('a');
      completed.complete();
      failed.error('broken');
      subscription.unsubscribe();
      expect(scheduler.actions.filter((action) => !action.closed)).toEqual([]);
      expect([completed.observed, failed.observed, left.observed]).toEqual([false, false, false]);
    });
  });
});
