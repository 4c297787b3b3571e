import {
  from,
  type MonoTypeOperatorFunction,
  Observable,
  type ObservableInput,
  type OperatorFunction,
  takeWhile,
} from 'rxjs';

/**
 * One run at a time; triggers during a run become exactly one further run, with the newest value (DESIGN §4, Law 8).
 *
 * Completes after the last run, the further one included. An error of the source or of a run, or a `run` that throws,
 * passes at once and unsubscribes the run in progress: a run that can fail must say so as a value. Unsubscribing
 * unsubscribes the run and forgets what waits. Runs may complete at once and may trigger the source while they run;
 * neither nests, so the stack does not grow.
 *
 * @see quiesce, which gathers bursts before it.
 */
export const coalesce =
  <T, R>(run: (value: T) => ObservableInput<R>): OperatorFunction<T, R> =>
  (source) =>
    new Observable((subscriber) => {
      let waiting: { readonly value: T } | undefined;
      let isRunning = false;
      let isDraining = false;
      let isSourceDone = false;

      // What emits before `subscribe` has returned gives no subscription yet to stop it by.
      const whileWanted = <V>(): MonoTypeOperatorFunction<V> => takeWhile(() => !subscriber.closed);

      const start = (value: T): void => {
        isRunning = true;
        try {
          subscriber.add(
            from(run(value))
              .pipe(whileWanted())
              .subscribe({
                next: (result) => subscriber.next(result),
                error: (error: unknown) => subscriber.error(error),
                complete: () => {
                  isRunning = false;
                  drain();
                },
              }),
          );
        } catch (error) {
          subscriber.error(error);
        }
      };
      const drain = (): void => {
        if (isDraining) return;
        isDraining = true;
        while (waiting !== undefined && !isRunning && !subscriber.closed) {
          const { value } = waiting;
          waiting = undefined;
          start(value);
        }
        isDraining = false;
        if (isSourceDone && !isRunning) subscriber.complete();
      };

      subscriber.add(
        source.pipe(whileWanted()).subscribe({
          next: (value) => {
            waiting = { value };
            drain();
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            isSourceDone = true;
            drain();
          },
        }),
      );
    });
