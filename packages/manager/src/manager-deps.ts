import type { Clock } from '@infrakit/runtime';
import type { Log, Plugins } from '@infrakit/spi';
import type { ManagerOptions } from './manager-options.ts';
import type { SpecBook } from './spec-book.ts';

/** What a manager works with. */
export interface ManagerDeps {
  /** The stack's name, under which its objects are: `mystack`. */
  readonly name: string;
  readonly options: ManagerOptions;
  readonly book: SpecBook;
  readonly plugins: Plugins;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly objectsChanged: () => void;
}
