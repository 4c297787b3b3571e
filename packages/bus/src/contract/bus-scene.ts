import { type AppError, type ErrorCode, topicsUnder } from '@infrakit/core';
import {
  type CallContext,
  type ContractContext,
  demand,
  demandRejects,
  type Log,
  mutating,
  type PluginObject,
  type Presence,
  pluginObject,
  reading,
} from '@infrakit/spi';
import { z } from 'zod';
import { type Bus, openBus } from '../bus.ts';
import type { Connection } from '../connection/connection.ts';
import { type ConnectionScene, type ConnectionSubject, textOf, withScene } from './connection-scene.ts';

/** A broker that processes come to. */
export type BusSubject = ConnectionSubject;

const Done = z.strictObject({ by: z.string() });

/** Something to find and to call: `look` reads, `light` changes; both say whose they were. */
export const lampInterface = {
  name: 'Lamp',
  version: '1.2.0',
  methods: { look: reading(z.strictObject({}), Done), light: mutating(z.strictObject({}), Done) },
} as const;

/** A lamp of a plugin that answers with `by`. */
export const lamp = (object: string, by: string, proxyFor?: string): PluginObject =>
  pluginObject({
    object,
    description: lampInterface,
    implementation: { look: async () => ({ by }), light: async () => ({ by }) },
    ...(proxyFor === undefined ? {} : { proxyFor }),
  });

/** What a process may be told beside its nonce. */
export interface ProcessOptions {
  readonly prefix?: string;
  readonly orphanGraceMs?: number;
  readonly log?: Log;
}

/** A process on the bus, and how it dies. */
export interface ScenedBus extends Bus {
  readonly nonce: string;
  readonly connection: Connection;
  /** Waits until this process sees the name answered to: what one process has published reaches another a little later. */
  readonly sees: (name: string) => Promise<void>;
  /** As `kill -9`: nothing is said, the broker sends the will. */
  readonly crash: () => void;
}

/** A case at work: processes, which leave the bus at its end. */
export interface BusScene extends ConnectionScene {
  readonly process: (nonce: string, options?: ProcessOptions) => Promise<ScenedBus>;
  /** What is retained under a filter now, by topic, as text. */
  readonly retained: (filter: string) => Promise<ReadonlyMap<string, string>>;
  readonly ctx: CallContext;
}

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Of the processes of all cases, so that what an error says of them can be checked. */
export const scenePid = 4_711;
export const sceneTopics = topicsUnder('infrakit');

/** Runs a case with a scene of its own and ends its processes after it. */
export const withBusScene = (
  subject: BusSubject,
  ctx: ContractContext,
  run: (scene: BusScene) => Promise<void>,
): Promise<void> =>
  withScene(subject, ctx, async (scene) => {
    const buses: ScenedBus[] = [];
    let observers = 0;
    let ids = 0;
    const process = async (nonce: string, options: ProcessOptions = {}): Promise<ScenedBus> => {
      const { prefix, orphanGraceMs, log = silent } = options;
      const opened: Connection[] = [];
      const bus = await openBus({
        connect: async (will) => {
          const connection = await scene.connect(`test-${nonce}`, will);
          opened.push(connection);
          return connection;
        },
        identity: { nonce, pid: scenePid, host: `host-${nonce}`, version: '0.1.0' },
        clock: { nowMs: Date.now, after: ctx.after },
        random: () => 0.5,
        newId: () => {
          ids += 1;
          return `${nonce}-${ids}`;
        },
        log,
        ...(prefix === undefined ? {} : { prefix }),
        ...(orphanGraceMs === undefined ? {} : { orphanGraceMs }),
      });
      const [connection] = opened;
      demand(connection !== undefined, 'a bus must connect');
      const sees = async (name: string): Promise<void> => {
        let now: Presence = { kind: 'offline', reason: '' };
        const watching = bus.registry.watch(name).subscribe((presence) => {
          now = presence;
        });
        await scene
          .until(() => now.kind === 'online', `${nonce} must see ${name} online`)
          .finally(() => watching.unsubscribe());
      };
      const scened: ScenedBus = { ...bus, nonce, connection, sees, crash: connection.sever };
      buses.push(scened);
      return scened;
    };
    const retained = async (filter: string): Promise<ReadonlyMap<string, string>> => {
      observers += 1;
      const observer = await scene.connect(`observer-${observers}`);
      const inbox = await scene.listen(observer, filter);
      let before = -1;
      // Complete when two looks in a row see as many.
      await scene.until(() => {
        const isSame = before === inbox.messages.length;
        before = inbox.messages.length;
        return isSame;
      }, 'the retained messages must end');
      await observer.close();
      return new Map(
        inbox.messages.filter((message) => message.retain).map((message) => [message.topic, textOf(message)]),
      );
    };
    try {
      await run({ ...scene, process, retained, ctx });
    } finally {
      subject.thaw();
      await Promise.all(buses.map((bus) => bus.close()));
    }
  });

/** Calls a lamp. */
export const callLamp = async (
  plugins: Bus['plugins'],
  name: string,
  method: 'look' | 'light',
  ctx: CallContext,
): Promise<string> => (await plugins.resolve(lampInterface, name)[method]({}, ctx)).by;

/** Demands that a call of a lamp is refused. */
export const refusesLamp = (
  plugins: Bus['plugins'],
  [name, method]: readonly [name: string, method: 'look' | 'light'],
  code: ErrorCode,
  ctx: CallContext,
): Promise<AppError> => demandRejects(callLamp(plugins, name, method, ctx), [code], `${method} of ${name}`);
