import type { Source } from '@infrakit/runtime';
import type { CallContext } from '@infrakit/spi';
import type { Observable } from 'rxjs';
import type { SourceItem } from './source-item.ts';

/** Where the desired entries come from. */
export interface EnrollmentSource {
  /** What it says now; the very same object as long as it says the same, so that an idle cycle rests. */
  readonly read: (ctx: CallContext) => Promise<Source<SourceItem>>;
  /** Hints that it may say something else. Never errors. */
  readonly triggers: Observable<unknown>;
  /** Nothing that left up to this revision is left to remove. */
  readonly settled: (revision: number, ctx: CallContext) => Promise<void>;
  /** The rule no longer reads this source; `isSame` when its next spec does. */
  readonly leave: (isSame: boolean, ctx: CallContext) => Promise<void>;
}
