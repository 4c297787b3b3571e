import { digest, type Event, type InstanceDescription, objectName, type Spec } from '@infrakit/core';
import type { Accepted } from '@infrakit/runtime';
import type { Events, Log, Plugins } from '@infrakit/spi';
import { enrollmentEvents } from './enrollment-events.ts';
import type { EnrollmentList } from './enrollment-list.ts';
import { parseEnrollment, warningsOf } from './enrollment-parse.ts';
import { type EnrollmentProgress, enrollmentProgress } from './enrollment-progress.ts';
import { enrollmentRule } from './enrollment-rule.ts';
import type { EnrollmentOptions, EnrollmentProperties } from './enrollment-schema.ts';
import { groupSource } from './group-source.ts';
import { type Describes, enrollmentSink } from './sink.ts';
import type { EnrollmentSource } from './source.ts';
import type { SourceItem } from './source-item.ts';
import { staticSource } from './static-source.ts';

/** What accepted enrollments work with. */
export interface AcceptDeps {
  /** The lookup name of the controller. */
  readonly name: string;
  /** The options that the plugin was started with, and those of the environment below them. */
  readonly startOptions: EnrollmentOptions;
  readonly plugins: Plugins;
  readonly events: Events;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly describes: Describes;
  readonly isSpecsBack: () => boolean;
}

/** An accepted enrollment, and what its cycles report. */
export interface AcceptedEnrollment {
  readonly accepted: Accepted<SourceItem, InstanceDescription>;
  readonly progress: EnrollmentProgress;
  readonly instance: EnrollmentProperties['Instance'];
}

/** A burst of events closes after so much silence, and after so long in any case (issue 5, DESIGN §4). */
const [quietMs, maxWaitMs] = [100, 1_000];

const sourceOf = (list: EnrollmentList, consumer: string, deps: AcceptDeps): EnrollmentSource =>
  list.kind === 'static' ? staticSource(list.items) : groupSource(list.plugin, list.group, { ...deps, consumer });

/**
 * Checks an enrollment spec as a whole and makes it ready to be kept: selectors and templates are compiled once (EI-E18,
 * EI-E19), plugins are named, not yet looked for: one that is not there is waited for.
 */
export const acceptEnrollment = (spec: Spec, revision: number, owner: string, deps: AcceptDeps): AcceptedEnrollment => {
  const rule = objectName(deps.name, spec.metadata.name);
  const fullName = `${deps.name}/${rule}`;
  const parsed = parseEnrollment(spec, { owner, rule }, deps.startOptions);
  const { properties, list, options, sourceKey, enrollmentKey, payload } = parsed;
  const { Plugin, Labels = {} } = properties.Instance;
  const publish = (event: Event): void => deps.events.publish(event);
  const progress = enrollmentProgress(enrollmentEvents(rule, { publish, nowMs: deps.nowMs }));
  const source = sourceOf(list, owner, deps);
  const sourceHash = digest(list);
  const accepted: AcceptedEnrollment['accepted'] = {
    rule: enrollmentRule({
      name: fullName,
      revision,
      options,
      facts: {
        owner,
        rule,
        fullName,
        sourceKey,
        enrollmentKey,
        allowUntaggedDestroy: options.AllowUntaggedDestroy,
        isSpecsBack: deps.isSpecsBack,
        madeFor: progress.madeFor,
      },
      source,
      sink: enrollmentSink(Plugin, { labels: Labels, hasProperties: enrollmentKey !== null }, deps),
      payload,
      progress,
    }),
    timing: { quietMs, maxWaitMs, syncIntervalMs: options.SyncInterval },
    triggers: source.triggers,
    sourceHash,
    warnings: warningsOf(parsed),
    onDestroy: options.DestroyOnTerminate ? 'empty' : 'leave',
    seen: progress.cycled,
    retire: (next, ctx) => source.leave(next?.sourceHash === sourceHash, ctx),
  };
  return { accepted, progress, instance: properties.Instance };
};
