import type { AppError } from '@infrakit/core';
import type { Message } from './connection.ts';
import type { Qos } from './qos.ts';

/** A filter that is wanted, with the highest QoS wanted for it. */
export interface FilterRequest {
  readonly filter: string;
  readonly qos: Qos;
}

/** One session with a broker, from the moment it accepted it: what a lasting connection is made of, one after the other. */
export interface Link {
  readonly protocol: '3.1.1' | '5' | 'memory';
  /** How many QoS 1 publishes the broker takes before it has acknowledged the first. */
  readonly maxInFlight: number;
  /** The largest publish it takes, in bytes. */
  readonly maxPacketBytes: number;
  /** Whether anybody would get a message that is published there now; left out where that is not known. */
  readonly isHeard?: (topic: string) => boolean;
  /** Resolves when the broker has it (QoS 1) or when it is written (QoS 0); rejects when it is refused or the link ends. */
  readonly publish: (topic: string, payload: Uint8Array, how: { qos: 0 | 1; retain: boolean }) => Promise<void>;
  /** One answer for each request, in order: why it is refused, or nothing. Rejects when the link ends. */
  readonly subscribe: (requests: readonly FilterRequest[]) => Promise<readonly (AppError | undefined)[]>;
  /** Resolves when the broker has forgotten it. */
  readonly unsubscribe: (filter: string) => Promise<void>;
  /** Says goodbye, so that no will is sent. Resolves when it is over; may hang with the broker. */
  readonly end: () => Promise<void>;
}

/** Who waits for a link. `up` comes once at most, perhaps at once; `down` once, and nothing after it. */
export interface LinkListener {
  readonly up: (link: Link) => void;
  readonly message: (message: Message) => void;
  readonly down: (error: AppError) => void;
}

/** Tries once to get a link. The result drops it as a crash would, at any time; `down` is not called for that. */
export type OpenLink = (listener: LinkListener) => () => void;
