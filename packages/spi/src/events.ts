import type { Event } from '@infrakit/core';
import type { Observable } from 'rxjs';

/** What a subscription gives. A gap (reconnect, missed sequence, another incarnation) says "look again at everything". */
export type EventMessage =
  | { readonly kind: 'event'; readonly plugin: string; readonly event: Event }
  | { readonly kind: 'gap'; readonly plugin: string; readonly reason: string }
  | { readonly kind: 'bad'; readonly plugin: string; readonly topic: string; readonly reason: string };

/** Port: events of this plugin out, events of any plugin in. Events are hints, describe is the truth. */
export interface Events {
  /** Publishes under this plugin's own name; `event.Topic` is relative to it. Never blocks the loop: a full queue drops the oldest and counts. */
  readonly publish: (event: Event) => void;
  /** Whether anybody listens to one of this plugin's own topics now; true, or left out, where the broker does not tell. */
  readonly isHeard?: (topic: string) => boolean;
  /** Events of `plugin` whose topics match an MQTT filter or an old form (`.`, trailing slash: GP §3.2). Never errors. */
  readonly subscribe: (plugin: string, filter: string) => Observable<EventMessage>;
}
