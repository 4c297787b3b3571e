import { asyncScheduler, Observable, type OperatorFunction, type SchedulerLike, type Subscription } from 'rxjs';

/**
 * Gathers a burst: closes after `quietMs` of silence or `maxWaitMs` after its first event, whichever is first, so
 * that a steady stream cannot starve it (DESIGN §4). Emits what came, in order, never an empty list.
 *
 * Completion flushes the open burst. An error passes at once and drops it. Unsubscribing stops the timers. An event in
 * the very tick in which its burst closes joins the burst when it is delivered before the timer, else opens the next.
 * Times are measured by timers alone, so a stepped wall clock changes nothing.
 *
 * @see coalesce, which takes the bursts one run at a time.
 */
export const quiesce =
  <T>(quietMs: number, maxWaitMs: number, scheduler: SchedulerLike = asyncScheduler): OperatorFunction<T, T[]> =>
  (source) =>
    new Observable((subscriber) => {
      let burst: T[] = [];
      let silence: Subscription | undefined;
      let limit: Subscription | undefined;

      const disarm = (): void => {
        silence?.unsubscribe();
        limit?.unsubscribe();
      };
      const close = (): void => {
        disarm();
        const closed = burst;
        burst = [];
        if (closed.length > 0) subscriber.next(closed);
      };

      subscriber.add(disarm);
      subscriber.add(
        source.subscribe({
          next: (event) => {
            burst.push(event);
            silence?.unsubscribe();
            silence = scheduler.schedule(close, quietMs);
            if (burst.length === 1) limit = scheduler.schedule(close, maxWaitMs);
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            close();
            subscriber.complete();
          },
        }),
      );
    });
