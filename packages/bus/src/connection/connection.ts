import type { Observable } from 'rxjs';

/** A message as it came from the broker. On MQTT 3.1.1 `retain` is false for a live retained publish. */
export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
  readonly qos: 0 | 1 | 2;
}

/** Whether the broker is there. `session` counts the connections: another one means "look again at everything". */
export type ConnectionStatus =
  | { readonly kind: 'connected'; readonly session: number; readonly protocol: '3.1.1' | '5' | 'memory' }
  | { readonly kind: 'disconnected'; readonly reason: string }
  | { readonly kind: 'closed' };

/** How a message is published. */
export interface PublishOptions {
  readonly qos: 0 | 1;
  readonly retain?: boolean;
  /** Deadline until the broker has it (QoS 1), or until it is written (QoS 0), in ms. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Interest in a filter, for as long as it is open and whatever the connection does. */
export interface TopicSubscription {
  /** Resolves when the broker has acknowledged it in the present session; `BUS_UNAVAILABLE` after the deadline. */
  readonly ready: (options?: { readonly timeoutMs?: number }) => Promise<void>;
  readonly close: () => void;
}

/**
 * One client of a broker: what everything on the bus is built on. Subscriptions follow from what is open, also after a
 * reconnect; publishes are not queued while there is no connection (`BUS_UNAVAILABLE`): what must not be lost is repeated
 * by who knows the state. A handler is called once a message for each open subscription that matches, may see a message
 * twice, sees retained ones again after each subscribe and reconnect, and sees own messages.
 */
export interface Connection {
  readonly clientId: string;
  /** The present status first, also when it is `closed`; then each change. Never errors; completes when closed. */
  readonly status: Observable<ConnectionStatus>;
  readonly publish: (topic: string, payload: Uint8Array | string, options: PublishOptions) => Promise<void>;
  /** Whether anybody would get a message that is published there now; true, or left out, where the broker does not tell. */
  readonly isHeard?: (topic: string) => boolean;
  readonly subscribe: (filter: string, qos: 0 | 1 | 2, handler: (message: Message) => void) => TopicSubscription;
  /** Ends in order: the will is not sent. */
  readonly close: () => Promise<void>;
  /** Drops the connection as a crash would, for good: the broker sends the will, the status is `closed`. For tests. */
  readonly sever: () => void;
}

/** What a client leaves behind when it ends without saying so: our wills are empty and retained (DESIGN §3). */
export interface Will {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}
