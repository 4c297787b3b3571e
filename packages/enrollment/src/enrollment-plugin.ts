import type { InstanceDescription } from '@infrakit/core';
import {
  type Clock,
  controllerView,
  type RuleKind,
  ruleController,
  sharedDescribes,
  workerPool,
} from '@infrakit/runtime';
import {
  type CallContext,
  controllerInterface,
  eventInterface,
  type PluginDeps,
  type PluginObject,
  pluginObject,
  type RunningPlugin,
} from '@infrakit/spi';
import { type AcceptDeps, acceptEnrollment } from './enrollment-accept.ts';
import type { EnrollmentProgress } from './enrollment-progress.ts';
import { enrollmentRows } from './enrollment-rows.ts';
import type { EnrollmentOptions } from './enrollment-schema.ts';
import { enrollmentEventSource } from './event-source.ts';
import { enrollmentLeftLine, enrollmentPlanLines } from './plan-text.ts';
import { checkSinkProperties } from './sink-properties.ts';
import type { SourceItem } from './source-item.ts';
import { storedSpecs } from './stored-specs.ts';

/** Rules on one sink and filter share the describes that begin within this time, in ms (DESIGN §4). */
const windowMs = 100;

/** Acts at once in all, and of one rule: a sink that hangs leaves half of them to the others (Law 5, EI-E20). */
const [concurrency, perQueue] = [64, 32];

/** Acts that begin in one turn of the event loop: what is asked meanwhile is answered in between. */
const perTurn = 32;

/** How long a cycle waits for acts that hang, in ms. */
const patienceMs = 1_000;

const starting = (): CallContext => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

const enrollmentKind = (deps: AcceptDeps): RuleKind<SourceItem, InstanceDescription> => {
  const progressOf = new WeakMap<object, EnrollmentProgress>();
  const sinkOf = new WeakMap<object, string>();
  return {
    kind: 'enrollment',
    accept: async (spec, revision, owner, ctx) => {
      const { accepted, progress, instance } = acceptEnrollment(spec, revision, owner, deps);
      await checkSinkProperties(instance, deps.plugins, ctx);
      progressOf.set(accepted, progress);
      sinkOf.set(accepted, instance.Plugin);
      return accepted;
    },
    leftLine: (count, accepted) => enrollmentLeftLine(count, sinkOf.get(accepted) ?? 'the sink'),
    planLines: enrollmentPlanLines,
    stateOf: (_outcome, accepted) => enrollmentRows(progressOf.get(accepted)?.report() ?? null),
  };
};

/**
 * Starts the enrollment controller (EI-E1: one for the life of the process) on a clock. Its objects are the controller, and
 * a view of it for each rule (EI §2.4).
 */
export const startEnrollment = async (deps: PluginDeps<EnrollmentOptions>, clock: Clock): Promise<RunningPlugin> => {
  const { name, plugins, events, journal, log, stackId } = deps;
  const stored = await storedSpecs(journal, starting());
  const pool = workerPool({ concurrency, perQueue, perTurn });
  const kind = enrollmentKind({
    name,
    startOptions: deps.options,
    plugins,
    events,
    log,
    nowMs: deps.nowMs,
    describes: sharedDescribes(windowMs, clock),
    isSpecsBack: stored.isBack,
  });
  const { controller, book } = ruleController(kind, {
    name,
    stackId,
    journal,
    state: deps.state,
    clock,
    random: deps.random,
    pool,
    log,
    newId: deps.newId,
    patienceMs,
    changed: () => {
      stored.came(book.names());
      deps.objectsChanged();
    },
  });
  const viewOf = (rule: string): PluginObject =>
    pluginObject({
      object: rule,
      description: controllerInterface,
      implementation: controllerView(controller, name, rule),
    });
  return {
    objects: () => [
      pluginObject({ object: '', description: controllerInterface, implementation: controller }),
      pluginObject({ object: '', description: eventInterface, implementation: enrollmentEventSource(book.names) }),
      ...book.names().map(viewOf),
    ],
    stop: async () => {
      await book.stop();
      await pool.close();
    },
  };
};
