import { join } from 'node:path';
import { reservedTags } from '@infrakit/core';
import {
  type Clock,
  controllerView,
  planLines,
  type RuleKind,
  ruleController,
  topicTree,
  workerPool,
} from '@infrakit/runtime';
import {
  type CallContext,
  controllerInterface,
  eventInterface,
  instanceInterface,
  type PluginDeps,
  type PluginObject,
  pluginObject,
  type RunningPlugin,
} from '@infrakit/spi';
import { dropEvents, dropTopic } from './drop-events.ts';
import { deliveringConditions } from './link/delivering.ts';
import type { Endpoint } from './link/endpoint.ts';
import type { Hop } from './mirror/loop-proof.ts';
import { openMirrors } from './mirror/mirrors.ts';
import type { MirrorEntry, WantedMirror } from './mirror/wanted-mirror.ts';
import { type AcceptedRepeater, acceptRepeater, topicObject } from './repeater-accept.ts';
import { repeaterRows } from './repeater-rows.ts';
import type { RepeaterOptions } from './repeater-schema.ts';
import type { MirrorReport } from './topic-instances.ts';
import { speaksMqtt5 } from './wire/speaks-mqtt5.ts';

/** Acts at once in all, and of one rule. */
const [concurrency, perQueue] = [64, 32];
/** How long a cycle waits for acts that hang, and how long a source may take to say what it speaks, in ms. */
const [patienceMs, askTimeoutMs] = [1_000, 3_000];

/** Starts the repeater on a clock: the controller, the object that takes mirrors, and a view of each rule. */
export const startRepeater = async (deps: PluginDeps<RepeaterOptions>, clock: Clock): Promise<RunningPlugin> => {
  const { name, stackId, log, options, newId, random } = deps;
  const folder = await deps.stateDir();
  const { broker, variable } = deps;
  let tell = (): void => undefined;
  const mirrors = await openMirrors(
    folder === null ? null : join(folder, 'mirrors.log'),
    { probeMs: options.ProbeInterval, maxBytes: options.MaxMessage, maxHops: options.MaxHops },
    {
      broker,
      variable,
      log,
      clock,
      random,
      newId,
      // Without a folder nothing lasts, and two such repeaters may have one name.
      identity: folder === null ? newId() : `${stackId}/${name}`,
      changed: () => undefined,
      fares: () => tell(),
    },
  );
  const pool = workerPool({ concurrency, perQueue });
  const known = new WeakMap<object, AcceptedRepeater>();
  const hopsInForce = new Map<string, readonly Hop[]>();
  const asksMqtt5 = (endpoint: Endpoint, { signal }: CallContext) =>
    speaksMqtt5(endpoint, `ik5${newId().slice(-18)}`, { clock, timeoutMs: askTimeoutMs, signal });
  const reportsOf = (accepted: object): readonly MirrorReport[] => {
    const owner = known.get(accepted)?.owner;
    return mirrors.reports().filter(({ record }) => record.Tags[reservedTags.enrollmentOwner] === owner);
  };
  const stopTelling = dropEvents({
    drops: mirrors.drops,
    ownerPrefix: `${stackId}/${name}/`,
    topicObject,
    publish: deps.events.publish,
    clock,
  });
  const delivering = deliveringConditions(clock.now);
  const kind: RuleKind<WantedMirror, MirrorEntry> = {
    kind: 'event-repeater',
    accept: async (spec, revision, owner, ctx) => {
      const made = await acceptRepeater(
        spec,
        { revision, owner, ctx },
        {
          name,
          stackId,
          plugins: deps.plugins,
          broker,
          variable,
          keepsBuffers: folder !== null,
          log,
          mirrors,
          asksMqtt5,
          hopsInForce,
        },
      );
      known.set(made.accepted, made);
      return made.accepted;
    },
    planLines: (plan) => planLines(plan, null),
    stateOf: (outcome, accepted) => repeaterRows(known.get(accepted)?.wanted ?? [], reportsOf(accepted), outcome),
    published: (state, accepted) => ({
      ...state,
      conditions: [...state.conditions, delivering(accepted, reportsOf(accepted))],
    }),
  };
  const { controller, book } = ruleController(kind, {
    name,
    stackId,
    journal: deps.journal,
    state: deps.state,
    clock,
    random,
    pool,
    log,
    newId,
    patienceMs,
    changed: deps.objectsChanged,
  });
  tell = () => {
    for (const rule of book.names()) book.refresh(rule);
  };
  const viewOf = (rule: string): PluginObject =>
    pluginObject({
      object: rule,
      description: controllerInterface,
      implementation: controllerView(controller, name, rule),
    });
  return {
    objects: () => [
      pluginObject({ object: '', description: controllerInterface, implementation: controller }),
      pluginObject({
        object: '',
        description: eventInterface,
        implementation: topicTree(() => [...book.names(), topicObject].map(dropTopic)),
      }),
      pluginObject({ object: topicObject, description: instanceInterface, implementation: mirrors.instance }),
      ...book.names().map(viewOf),
    ],
    stop: async () => {
      stopTelling();
      await book.stop();
      await pool.close();
      await mirrors.close();
    },
  };
};
