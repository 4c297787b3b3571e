import type { Duplex } from 'node:stream';
import type { BrokerAddress } from '@infrakit/core';
import type { z } from 'zod';
import type { Events } from './events.ts';
import type { InterfaceDescription, SpiOf } from './interface.ts';
import type { Journal } from './journal.ts';
import type { Log } from './log.ts';
import type { MembersPublisher } from './members-publisher.ts';
import type { Plugins } from './plugins.ts';
import type { StatePublisher } from './state-publisher.ts';
import type { Store } from './store.ts';

/** One object of a plugin and one interface it answers; an object with two interfaces stands twice. */
export interface PluginObject<I extends InterfaceDescription = InterfaceDescription> {
  /** The part after the first slash of its name; empty for the plugin itself. */
  readonly object: string;
  readonly description: I;
  readonly implementation: SpiOf<I>;
  /** The managed object that this one stands for, such as `group/cattle` for `mystack/cattle`. */
  readonly proxyFor?: string;
  /** What is changed through this one alone, though this one answers reads by itself: `group` for `mystack/groups`. */
  readonly changesFor?: string;
}

/** An object whose implementation is checked against its interface here; what is made of it no longer knows which one. */
export const pluginObject = <I extends InterfaceDescription>(object: PluginObject<I>): PluginObject =>
  object as unknown as PluginObject;

/** Where the broker of this stack is, for a plugin that speaks MQTT to it itself. */
export interface BrokerAccess {
  /** The one to be used; it may hold a password. */
  readonly address: BrokerAddress;
  /** What others know it by, without a password; null when it has no such address. */
  readonly url: string | null;
  /** All topics of this stack are below it. */
  readonly prefix: string;
  /** Only where the broker runs in this process. */
  readonly openReader?: OpenReader | undefined;
}

/**
 * Opens a subscriber without a socket. Its stream speaks MQTT 3.1.1 as if CONNECT were accepted and takes whole packets; it does not
 * publish. `clean: false`: with the session of this client id, `hadSession` says whether there was one.
 */
export type OpenReader = (who: {
  readonly clientId: string;
  readonly clean: boolean;
}) => Promise<{ readonly stream: Duplex; readonly hadSession: boolean }>;

/** What a plugin is given; it reads no environment, clock or file of its own choosing. */
export interface PluginDeps<Options> {
  /** The lookup name it was started under. */
  readonly name: string;
  readonly options: Options;
  readonly stackId: string;
  /** A folder of its own for its state, made when it is first asked for; null when the host keeps nothing. */
  readonly stateDir: () => Promise<string | null>;
  readonly plugins: Plugins;
  readonly events: Events;
  readonly state: StatePublisher;
  readonly members: MembersPublisher;
  readonly journal: Journal;
  /** What is committed in this stack; for the manager, which alone writes it. */
  readonly store: Store;
  /** Null where there is none that others reach. */
  readonly broker: BrokerAccess | null;
  /** A variable of the environment that an option or spec names, such as one with a password (`env:NAME`). */
  readonly variable: (name: string) => string | undefined;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** A new id that sorts by time. */
  readonly newId: () => string;
  /** Tells the host that `objects()` gives another list from now on. */
  readonly objectsChanged: () => void;
}

/** A plugin that runs. */
export interface RunningPlugin {
  readonly objects: () => readonly PluginObject[];
  /** Ends it in order: no act is begun after the call, those under way are awaited within their deadlines. */
  readonly stop: () => Promise<void>;
}

/** What a package exports to be a plugin; built-in ones come through the same door (DESIGN §2). */
export interface PluginDefinition<O extends z.ZodType = z.ZodType> {
  /** What `plugin start` is told: `simulator`, `enrollment`, … */
  readonly kind: string;
  /** Other kinds it also goes by. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Whether only one may lead at a time (group, controllers, manager); a second one becomes a standby. */
  readonly isSingle: boolean;
  readonly options: O;
  /** Options from environment variables, by their full names; an unusable value is logged and left out (EI-E23). */
  readonly environment?: Readonly<Record<string, (text: string) => Partial<z.input<O>>>>;
  readonly start: (deps: PluginDeps<z.output<O>>) => Promise<RunningPlugin>;
}
