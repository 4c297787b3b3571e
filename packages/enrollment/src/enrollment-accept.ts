import { AppError, digest, type Event, type InstanceDescription, objectName, type Spec } from '@infrakit/core';
import type { Accepted } from '@infrakit/runtime';
import type { Events, Log, Plugins } from '@infrakit/spi';
import { TemplateError } from '@infrakit/template';
import { merge, Subject } from 'rxjs';
import { decodePart } from './decode-part.ts';
import { enrollmentEvents } from './enrollment-events.ts';
import { type EnrollmentList, readList } from './enrollment-list.ts';
import { type EnrollmentProgress, enrollmentProgress } from './enrollment-progress.ts';
import { enrollmentRule } from './enrollment-rule.ts';
import { EnrollmentOptions, EnrollmentProperties, type OptionsInForce, optionsInForce } from './enrollment-schema.ts';
import { groupSource } from './group-source.ts';
import { compilePayload, type Payload } from './payload.ts';
import { byId, compileSelector, type Selector } from './selector.ts';
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
}

/** A burst of events closes after so much silence, and after so long in any case (issue 5, DESIGN §4). */
const [quietMs, maxWaitMs] = [100, 1_000];

/** A field of a map, in whatever case it is written: what can be judged of a part that has other faults. */
const fieldOf = (part: unknown, name: string): unknown => {
  if (typeof part !== 'object' || part === null) return undefined;
  const entries = Object.entries(part);
  const isMeant = (field: string): boolean => field.toLowerCase() === name.toLowerCase();
  return (entries.find(([field]) => field === name) ?? entries.find(([field]) => isMeant(field)))?.[1];
};

/** A part of a spec that can be compiled, or why it cannot. */
const attempt = <T>(faults: string[], field: string, compile: () => T): T | undefined => {
  try {
    return compile();
  } catch (thrown) {
    if (thrown instanceof TemplateError) faults.push(`${field}: ${thrown.reason}`);
    else if (thrown instanceof AppError) faults.push(thrown.message);
    else throw thrown;
    return undefined;
  }
};

interface Parsed {
  readonly properties: EnrollmentProperties;
  readonly list: EnrollmentList;
  readonly options: OptionsInForce;
  readonly sourceKey: Selector;
  readonly enrollmentKey: Selector | null;
  readonly payload: Payload;
}

const selectorOf = (text: string, field: string, faults: string[]): Selector | null | undefined =>
  text === '' ? null : attempt(faults, field, () => compileSelector(text, field));

const isToldOfList = (faults: readonly string[]): boolean =>
  faults.some((fault) => fault.includes('did you mean `List`'));

/** Every fault of a spec at once, as `SPEC_INVALID` (EI-E24); nothing of it is in force then (EI-E22). */
const parse = (
  spec: Spec,
  ids: { readonly owner: string; readonly rule: string },
  start: EnrollmentOptions,
): Parsed => {
  const faults: string[] = [];
  const hasProperties = spec.properties !== undefined && spec.properties !== null;
  if (!hasProperties) faults.push('missing properties');
  const properties = hasProperties ? decodePart('properties', spec.properties, EnrollmentProperties) : undefined;
  faults.push(...(properties?.faults ?? []));
  const list = hasProperties && !isToldOfList(faults) ? readList(fieldOf(spec.properties, 'List')) : undefined;
  faults.push(...(list?.faults ?? []));
  const given = decodePart('options', spec.options ?? {}, EnrollmentOptions);
  faults.push(...given.faults);
  const options = optionsInForce(start, given.value ?? {});
  const selector = (field: 'SourceKeySelector' | 'EnrollmentKeySelector') => {
    const text = given.value === undefined ? fieldOf(spec.options, field) : options[field];
    return selectorOf(typeof text === 'string' ? text : '', field, faults);
  };
  const sourceKey = selector('SourceKeySelector');
  const enrollmentKey = selector('EnrollmentKeySelector');
  const instance = properties?.value?.Instance;
  const payload = instance && attempt(faults, 'Instance.Properties', () => compilePayload(instance, ids));
  if (
    faults.length > 0 ||
    properties?.value === undefined ||
    list?.value === undefined ||
    payload === undefined ||
    sourceKey === undefined ||
    enrollmentKey === undefined
  ) {
    throw new AppError('SPEC_INVALID', faults.join('\n'), { facts: { faults } });
  }
  return {
    properties: properties.value,
    list: list.value,
    options,
    sourceKey: sourceKey ?? byId,
    enrollmentKey,
    payload,
  };
};

const warningsOf = ({ list, options }: Parsed): string[] => {
  const selectors = {
    SourceKeySelector: options.SourceKeySelector,
    EnrollmentKeySelector: options.EnrollmentKeySelector,
  };
  const constant = Object.entries(selectors)
    .filter(([, text]) => text !== '' && !text.includes('{'))
    .map(([field]) => `${field} has no template action: every entry gets the same key`);
  const isBlind = list.kind === 'group' && options.SourceKeySelector.includes('.Properties');
  return [
    ...constant,
    ...(isBlind ? ['SourceKeySelector reads .Properties, which members of a group do not have'] : []),
  ];
};

const sourceOf = (list: EnrollmentList, consumer: string, deps: AcceptDeps): EnrollmentSource =>
  list.kind === 'static' ? staticSource(list.items) : groupSource(list.plugin, list.group, { ...deps, consumer });

const didAnything = (
  counts: { readonly [count in 'created' | 'labelled' | 'replaced' | 'destroyed']: number },
): boolean => counts.created + counts.labelled + counts.replaced + counts.destroyed > 0;

/**
 * Checks an enrollment spec as a whole and makes it ready to be kept: selectors and templates are compiled once (EI-E18,
 * EI-E19), plugins are named, not yet looked for: one that is not there is waited for.
 */
export const acceptEnrollment = (spec: Spec, revision: number, owner: string, deps: AcceptDeps): AcceptedEnrollment => {
  const rule = objectName(deps.name, spec.metadata.name);
  const parsed = parse(spec, { owner, rule }, deps.startOptions);
  const { properties, list, options, sourceKey, enrollmentKey, payload } = parsed;
  const { Plugin, Labels = {} } = properties.Instance;
  const publish = (event: Event): void => deps.events.publish(event);
  const progress = enrollmentProgress(enrollmentEvents(rule, { publish, nowMs: deps.nowMs }));
  const source = sourceOf(list, owner, deps);
  const sourceHash = digest(list);
  const confirm = new Subject<void>();
  let confirmed = '';
  const accepted: AcceptedEnrollment['accepted'] = {
    rule: enrollmentRule({
      name: `${deps.name}/${rule}`,
      revision,
      options,
      facts: {
        owner,
        rule,
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
    triggers: merge(source.triggers, confirm),
    sourceHash,
    warnings: warningsOf(parsed),
    onDestroy: options.DestroyOnTerminate ? 'empty' : 'leave',
    seen: (outcome) => {
      progress.cycled(outcome);
      if (outcome.kind !== 'completed' || !didAnything(outcome.counts) || outcome.plan.id === confirmed) return;
      // What was done is looked at soon, so that the state says so and departures are acknowledged; not what is done over and over.
      confirmed = outcome.plan.id;
      confirm.next();
    },
    retire: (next, ctx) => source.leave(next?.sourceHash === sourceHash, ctx),
  };
  return { accepted, progress };
};
