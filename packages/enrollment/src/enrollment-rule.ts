import { digest, type InstanceDescription, ownerTags } from '@infrakit/core';
import type { Rule, RuleSettings } from '@infrakit/runtime';
import { enrollmentKeys, type KeysFacts } from './enrollment-keys.ts';
import type { EnrollmentProgress } from './enrollment-progress.ts';
import type { OptionsInForce } from './enrollment-schema.ts';
import type { Payload } from './payload.ts';
import type { EnrollmentSink } from './sink.ts';
import type { EnrollmentSource } from './source.ts';
import type { SourceItem } from './source-item.ts';

/** Deadline of each read and act, and how long an accepted act may stay invisible in the sink (EI-E15, EI-E20). */
const [callTimeoutMs, maxCallTimeoutMs, graceMs] = [30_000, 300_000, 30_000];

const settingsOf = (options: OptionsInForce): RuleSettings => ({
  policy: 'sync',
  onChange: options.OnChange,
  sourcePolicy: options.SourceParseErrPolicy,
  enrollmentPolicy: options.EnrollmentParseErrPolicy,
  order: options.Order,
  maxDestroyPercent: options.MaxDestroyPercent,
  maxDestroyFloor: options.MaxDestroyFloor,
  callTimeoutMs,
  maxCallTimeoutMs,
  graceMs,
});

/** The parts that an enrollment is put together from. */
export interface EnrollmentParts {
  /** `<controller>/<rule>`. */
  readonly name: string;
  readonly revision: number;
  readonly options: OptionsInForce;
  readonly facts: KeysFacts;
  readonly source: EnrollmentSource;
  readonly sink: EnrollmentSink;
  readonly payload: Payload;
  readonly progress: EnrollmentProgress;
}

/** An enrollment as the loop keeps it: two adapters, and what it wants (DESIGN §1). */
export const enrollmentRule = (parts: EnrollmentParts): Rule<SourceItem, InstanceDescription> => {
  const { facts, source, sink, payload, progress } = parts;
  const { owner, rule } = facts;
  return {
    name: parts.name,
    owner,
    settings: settingsOf(parts.options),
    revision: parts.revision,
    readSource: source.read,
    readSink: sink.read,
    keys: (reading, observed) => {
      const keyed = enrollmentKeys(reading, observed, facts);
      progress.looked(keyed.observed);
      return keyed;
    },
    contentOf: (item) => digest(payload.propertiesOf(item)),
    create: (item, ctx) => {
      const key = facts.sourceKey(item);
      const subject = { ...(key.kind === 'known' && { key: key.value }), sourceID: item.ID };
      return progress.creating(subject, async () => sink.provision(payload.specOf(item), ctx));
    },
    label: (id, sourceId, ctx) => sink.label(id, ownerTags(owner, rule, sourceId), ctx),
    destroy: (id, reason, ctx) => progress.destroying(id, () => sink.destroy(id, reason, ctx)),
    settled: source.settled,
  };
};
