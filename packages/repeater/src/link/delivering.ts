import { reservedTags } from '@infrakit/core';
import type { Condition } from '@infrakit/spi';
import type { MirrorReport } from '../topic-instances.ts';

/** Says of the mirrors of a rule whether all of them deliver, and since when that is so: health is progress (issue 6). */
export const deliveringConditions = (
  nowMs: () => number,
): ((rule: object, reports: readonly MirrorReport[]) => Condition) => {
  const before = new WeakMap<object, Condition>();
  return (rule, reports) => {
    const failing = reports.find(({ status }) => status.state !== 'active');
    const isTrue = failing === undefined;
    const name = failing?.record.Tags[reservedTags.enrollmentSourceId] ?? '';
    const reason = isTrue
      ? ''
      : [`${name} is ${failing.status.state}`, failing.status.lastError].filter(Boolean).join(': ');
    const last = before.get(rule);
    const sinceMs = last?.isTrue === isTrue ? last.sinceMs : nowMs();
    const condition = { type: 'Delivering', isTrue, reason, sinceMs };
    before.set(rule, condition);
    return condition;
  };
};
