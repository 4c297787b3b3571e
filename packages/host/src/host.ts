import { type Bus, type BusPlugin, connectEmbedded, openBus, type ProcessIdentity } from '@infrakit/bus';
import type { Clock } from '@infrakit/runtime';
import type { Log } from '@infrakit/spi';
import { chooseBroker } from './broker-choice.ts';
import type { BrokerOptions, ChosenBroker } from './broker-options.ts';
import { connectBroker } from './connect-broker.ts';
import { type BuiltInKind, builtInKinds, findKind } from './definitions.ts';
import { openHome } from './home.ts';
import { homeStore } from './home-store.ts';
import { isLivingProcess } from './living-process.ts';
import { npmKind, npmPrefix } from './npm-plugin.ts';
import { checkNames, parsePluginArgument } from './plugin-argument.ts';
import { type PluginLife, startPluginLife } from './plugin-life.ts';
import { pluginOptions } from './plugin-options.ts';
import { type ProcessStatus, processObject, processPlugin } from './process-control.ts';
import { scopedLog } from './scoped-log.ts';
import type { Environment } from './settings.ts';
import { stackIdOf } from './stack-id.ts';
import { type RandomBytes, timeIds } from './time-id.ts';
import { stoppedEarly } from './waiting.ts';

/** What a host is to run, and where. */
export interface HostOptions extends Omit<BrokerOptions, 'home' | 'timeoutMs' | 'pid'> {
  /** `manager:mystack`, `group`, …, started in this order. */
  readonly plugins: readonly string[];
  /** The folder where everything is kept; null keeps nothing. */
  readonly home: string | null;
  /** Options a plugin is started with, by its name. */
  readonly pluginOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Folders from which the packages of `npm:` plugins are looked for; none when left out. */
  readonly packageFolders?: readonly string[];
  /** Variables that plugins may take options from. */
  readonly environment: Environment;
  /** Plugins whose kind has leaders wait for a name that is taken, instead of being refused. */
  readonly isStandby: boolean;
  /** Until the broker, and then each plugin, must have answered, in ms. */
  readonly startTimeoutMs: number;
  readonly version: string;
  /** Name of this machine, and id of this process. */
  readonly host: string;
  readonly pid: number;
}

export interface HostDeps {
  readonly log: Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly randomBytes: RandomBytes;
  /** The kinds there are; the built-in ones when left out. */
  readonly kinds?: readonly BuiltInKind[];
  /** Ends a start that is under way. */
  readonly signal: AbortSignal;
}

/** A running host. */
export interface Host extends AsyncDisposable {
  readonly bus: Bus;
  /** For other MQTT clients: `mqtt://127.0.0.1:1883`; null when there is none. */
  readonly url: string | null;
  readonly broker: ChosenBroker['kind'];
  readonly prefix: string;
  readonly nonce: string;
  readonly stackId: string;
  readonly status: () => ProcessStatus;
  /** Undefined when it runs no such plugin. */
  readonly stopPlugin: (name: string) => Promise<void> | undefined;
  /** Ends everything in order, the plugins in the reverse of their start; within 10 s. */
  readonly stop: () => Promise<void>;
  /** Resolves when it has ended, whoever asked for it. */
  readonly stopped: Promise<void>;
}

/** A host ends within 10 s: this for its plugins, 2 s for the bus, 2 s for the broker. */
const stopPluginsMs = 5_000;
const answerMs = 50;

type Undo = () => Promise<unknown>;

/**
 * Starts a host: its broker, then its plugins one after the other. Whatever fails, nothing is left running (GP-L1). Errors:
 * `PLUGIN_KIND_UNKNOWN`, `ARGUMENT_INVALID`, `HOME_INVALID`, `BUS_UNAVAILABLE`, `BUS_REFUSED`, `BROKER_INVALID`,
 * `PLUGIN_CLAIMED`, `RPC_CANCELLED` when the signal aborted, and what a plugin says.
 */
export const startHost = async (options: HostOptions, deps: HostDeps): Promise<Host> => {
  const { startTimeoutMs, host, pid, version } = options;
  const { log, clock, random, signal, kinds = builtInKinds } = deps;
  const startedMs = clock.now();
  const waits = { after: clock.after, nowMs: clock.now, signal };
  const requests: (BuiltInKind & { readonly name: string })[] = [];
  for (const text of options.plugins) {
    const { kind: word, name } = parsePluginArgument(text);
    const known = word.startsWith(npmPrefix)
      ? await npmKind(word.slice(npmPrefix.length), options.packageFolders ?? [])
      : findKind(word, kinds);
    requests.push({ ...known, name: name ?? known.kind });
  }
  checkNames(requests);
  const toRun = [];
  for (const { load, name, eventQos } of requests) {
    const definition = await load();
    const given = options.pluginOptions?.[name] ?? {};
    const read = pluginOptions(definition, { given, env: options.environment }, scopedLog(log, { plugin: name }));
    toRun.push({ definition, name, eventQos, options: read, isStandby: options.isStandby });
  }

  const newId = timeIds(clock.now, deps.randomBytes);
  const nonce = newId();
  const lives: PluginLife[] = [];
  const undo: Undo[] = [];
  let control: BusPlugin | undefined;
  let isEnding = false;
  let tellStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    tellStopped = resolve;
  });

  const logged = (facts: Readonly<Record<string, unknown>>) => (error: unknown) =>
    log.warn({ err: error, ...facts }, 'the host did not end in order');
  const endAll = async (): Promise<void> => {
    const deadlineMs = clock.now() + stopPluginsMs;
    const leaving: Promise<unknown>[] = [];
    for (const { name, end, leave } of lives.splice(0).reverse()) {
      await end(Math.max(1, deadlineMs - clock.now())).catch(logged({ plugin: name }));
      // Not one after the other: without its broker each takes its whole deadline.
      leaving.push(leave().catch(logged({ plugin: name })));
    }
    await Promise.all([...leaving, control?.stop().catch(logged({}))]);
    for (const step of undo.splice(0).reverse()) await step().catch(logged({}));
    tellStopped();
  };
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    isEnding = true;
    ended ??= endAll();
    return ended;
  };
  const stopPlugin = (name: string): Promise<void> | undefined => {
    const place = lives.findIndex((life) => life.name === name);
    const [life] = place < 0 ? [] : lives.splice(place, 1);
    return life?.end(stopPluginsMs).then(life.leave);
  };
  const status = (): ProcessStatus => ({
    pid,
    host,
    version,
    uptimeMs: Math.max(0, clock.now() - startedMs),
    plugins: lives.map((life) => life.status()),
  });

  try {
    const home = options.home === null ? null : await openHome(options.home);
    const broker = await chooseBroker({ ...options, home, timeoutMs: startTimeoutMs }, { ...waits, log });
    let isLast = true;
    undo.push(() => broker.stop(isLast));
    const { address, tls } = broker;
    const onlyVersion = broker.version === undefined ? {} : { version: broker.version };
    const identity: ProcessIdentity = { nonce, pid, host, version };
    const bus = await openBus({
      connect: (will) => {
        const client = { clientId: `host-${nonce}`, will };
        const { inProcess } = broker;
        if (inProcess !== undefined) {
          return connectEmbedded({ broker: () => inProcess, ...client }, { after: clock.after, log });
        }
        const wanted = { address, tls, ...onlyVersion, ...client, timeoutMs: startTimeoutMs };
        return connectBroker(wanted, { ...waits, random, log });
      },
      prefix: broker.prefix,
      identity,
      clock: { nowMs: clock.now, after: clock.after },
      random,
      newId,
      log,
      isLiving: isLivingProcess,
    });
    undo.push(async () => {
      isLast = [...bus.registry.processes().keys()].every((other) => other === nonce);
      await bus.close();
    });
    await bus.announced(startTimeoutMs);
    const manager = toRun.find(({ definition }) => definition.kind === 'manager')?.name;
    const stackId = await stackIdOf(home, { manager, newId }, { ...waits, timeoutMs: startTimeoutMs });
    const { store, close: closeStore } = homeStore(home);
    undo.push(closeStore);
    const controlled = [
      processObject({ status, stopPlugin, stopSoon: () => void clock.after(answerMs, () => void stop()) }),
    ];
    control = await bus.start(processPlugin(nonce), { isSingle: false, objects: () => controlled });
    for (const wanted of toRun) {
      if (signal.aborted || isEnding) throw stoppedEarly();
      const scoped = scopedLog(log, { plugin: wanted.name });
      const variable = (variableName: string): string | undefined => options.environment[variableName];
      const access = { address, url: broker.url, prefix: broker.prefix, openReader: broker.inProcess?.openReader };
      const common = {
        bus,
        broker: access,
        variable,
        home,
        store,
        stackId,
        clock,
        random,
        newId,
        signal,
        startTimeoutMs,
      };
      lives.push(await startPluginLife(wanted, { ...common, place: { host, pid }, log: scoped }));
      log.info({ plugin: wanted.name, kind: wanted.definition.kind }, 'plugin started');
    }
    return {
      bus,
      url: broker.url,
      broker: broker.kind,
      prefix: broker.prefix,
      nonce,
      stackId,
      status,
      stopPlugin,
      stop,
      stopped,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
