import { concat, defer, EMPTY, map, type Observable, of, range, Subject, take, tap, throwError, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { coalesce } from './coalesce.ts';

const marbles = () => new TestScheduler((actual, expected) => expect(actual).toEqual(expected));

const cases: readonly { title: string; source: string; run: string; expected: string; runs: string[] }[] = [
  { title: 'one trigger is one run', source: 'a---------', run: '--r|', expected: '--r-------', runs: ['^--!'] },
  {
    title: 'a trigger during a run is one further run',
    source: 'ab--------',
    run: '--r|',
    expected: '--r--r----',
    runs: ['^--!', '---^--!'],
  },
  {
    title: 'many triggers during a run are exactly one further run',
    source: 'abcabc----',
    run: '-----r|',
    expected: '-----r-----r-----',
    runs: ['^-----!', '------^-----!'],
  },
  {
    title: 'a trigger in the tick in which the run ends is not lost',
    source: 'a--b------',
    run: '--r|',
    expected: '--r--r----',
    runs: ['^--!', '---^--!'],
  },
  {
    title: 'triggers of one tick are the run and one further run',
    source: '(abc)-----',
    run: '--r|',
    expected: '--r--r----',
    runs: ['^--!', '---^--!'],
  },
  {
    title: 'completes after the last run, the waiting one included',
    source: 'ab|',
    run: '--r|',
    expected: '--r--r|',
    runs: ['^--!', '---^--!'],
  },
  { title: 'completes at once when nothing runs', source: 'a---|', run: '-r|', expected: '-r--|', runs: ['^-!'] },
  {
    title: 'completes in the tick in which the run ends',
    source: 'a--|',
    run: '--r|',
    expected: '--r|',
    runs: ['^--!'],
  },
  {
    title: 'an error of a run passes at once, nothing runs after it',
    source: 'ab--c-----',
    run: '--#',
    expected: '--#',
    runs: ['^-!'],
  },
  {
    title: 'an error of the source passes at once and unsubscribes the run',
    source: 'ab#',
    run: '-----r|',
    expected: '--#',
    runs: ['^-!'],
  },
  {
    title: 'a run that never ends holds completion back',
    source: 'ab|',
    run: 'r---',
    expected: 'r---------',
    runs: ['^'],
  },
];

describe('coalesce: issue 2, marble tests', () => {
  it.each(cases)('$title', ({ source, run, expected, runs }) => {
    marbles().run(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const cycle = cold(run);
      expectObservable(hot(source).pipe(coalesce(() => cycle))).toBe(expected);
      expectSubscriptions(cycle.subscriptions).toBe(runs);
    });
  });

  it('runs that complete synchronously: one for each trigger, in its tick', () => {
    marbles().run(({ hot, expectObservable }) => {
      expectObservable(hot('a-(bc)--|').pipe(coalesce((value) => of(value)))).toBe('a-(bc)--|');
      expectObservable(hot('a-b-|').pipe(coalesce(() => EMPTY))).toBe('----|');
    });
  });

  it('the further run has the newest value', () => {
    marbles().run(({ hot, expectObservable }) => {
      const runs = hot('abcd-e|').pipe(coalesce((value) => timer(3).pipe(map(() => value))));
      expectObservable(runs).toBe('---a--d--(e|)');
    });
  });

  it('unsubscribing unsubscribes the run and the source, and forgets what waits', () => {
    marbles().run(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const triggers = hot('ab-----');
      const cycle = cold('-----r|');
      expectObservable(triggers.pipe(coalesce(() => cycle)), '^--!').toBe('----');
      expectSubscriptions(cycle.subscriptions).toBe('^--!');
      expectSubscriptions(triggers.subscriptions).toBe('^--!');
    });
  });

  it('a run that throws before it returns is an error', () => {
    marbles().run(({ hot, expectObservable }) => {
      const run = (): Observable<string> => {
        throw 'broken';
      };
      expectObservable(hot('-a').pipe(coalesce(run))).toBe('-#', undefined, 'broken');
      expectObservable(hot('-a').pipe(coalesce(() => throwError(() => 'broken')))).toBe('-#', undefined, 'broken');
    });
  });

  it('100,000 synchronous triggers with synchronous runs do not grow the stack', () => {
    let runs = 0;
    range(0, 100_000)
      .pipe(coalesce(() => defer(() => of(runs++))))
      .subscribe();
    expect(runs).toBe(100_000);
  });

  it('a run that triggers its own source 100,000 times does not grow the stack and never nests', () => {
    const triggers = new Subject<number>();
    let deepest = 0;
    let depth = 0;
    let last = 0;
    triggers
      .pipe(
        coalesce((n) =>
          defer(() => {
            deepest = Math.max(deepest, ++depth);
            if (n < 100_000) triggers.next(n + 1);
            depth--;
            return of(n);
          }),
        ),
      )
      .subscribe((n) => {
        last = n;
      });
    triggers.next(1);
    expect({ last, deepest }).toEqual({ last: 100_000, deepest: 1 });
  });

  it('a trigger sent from a result is one further run', () => {
    const triggers = new Subject<string>();
    const results: string[] = [];
    triggers.pipe(coalesce((value) => of(value))).subscribe((value) => {
      results.push(value);
      if (value === 'a') for (const next of ['b', 'c']) triggers.next(next);
    });
    triggers.next('a');
    expect(results).toEqual(['a', 'c']);
  });

  it('a run that never yields is stopped by unsubscribing, and so is its source', () => {
    const results: number[] = [];
    const isObserved = new Subject<void>();
    concat(of(0), isObserved)
      .pipe(
        coalesce(() => range(0, Number.POSITIVE_INFINITY)),
        take(3),
      )
      .subscribe((n) => results.push(n));
    expect(results).toEqual([0, 1, 2]);
    expect(isObserved.observed).toBe(false);
  });

  it('a source that never yields is stopped when nobody wants results any more', () => {
    let sent = 0;
    const source = range(0, 1_000).pipe(tap(() => sent++));
    source
      .pipe(
        coalesce((n) => of(n)),
        take(3),
      )
      .subscribe();
    expect(sent).toBeLessThan(5);
  });

  it('takes promises as runs', async () => {
    const triggers = new Subject<string>();
    const results: string[] = [];
    const done = new Promise<void>((complete) =>
      triggers
        .pipe(coalesce((value) => Promise.resolve(value)))
        .subscribe({ next: (value) => results.push(value), complete }),
    );
    for (const value of ['a', 'b', 'c']) triggers.next(value);
    triggers.complete();
    await done;
    expect(results).toEqual(['a', 'c']);
  });
});
