import type { Observable } from 'rxjs';
import type { InterfaceDescription, SpiOf } from './interface.ts';

/** Whether something answers to a name. A new incarnation is a reason to look again at everything (DESIGN §3). */
export type Presence =
  | {
      readonly kind: 'online';
      readonly plugin: string;
      readonly incarnation: string;
      readonly interfaces: readonly string[];
      readonly term?: number;
    }
  | { readonly kind: 'offline'; readonly reason: string };

/** Port: plugin names to SPIs. */
export interface Plugins {
  /**
   * A handle on `<plugin>` or `<plugin>/<object>`, found anew at each call. Reads of a managed name go to its target,
   * mutations to its manager. When nothing answers to the name a call fails with `PLUGIN_UNKNOWN` or `OBJECT_UNKNOWN`;
   * it never waits for longer than its deadline (GP-S5).
   */
  readonly resolve: <I extends InterfaceDescription>(description: I, name: string) => SpiOf<I>;
  /** The presence of a name, the present one first, then each change. Never errors; ends when the process stops. */
  readonly watch: (name: string) => Observable<Presence>;
}
