import { createHash } from 'node:crypto';
import { base32 } from '../value/base32.ts';
import type { Act } from './act.ts';

/** Whether an act changes anything; the rest only reports. */
export const isChange = (act: Act): boolean => {
  switch (act.kind) {
    case 'create':
    case 'label':
    case 'replace':
    case 'destroy':
      return true;
    case 'duplicate':
      return act.reduce;
    case 'keep':
    case 'quarantined':
    case 'foreign':
      return false;
    default:
      return act satisfies never;
  }
};

// Every field carries its length, so that no two plans share one text.
const field = (value: string | undefined): string => (value === undefined ? '-' : `${value.length}:${value}`);

const line = (act: Act): string => {
  switch (act.kind) {
    case 'create':
      return `c${field(act.key)}${field(act.sourceId)}${field(act.content)}`;
    case 'label':
      return `l${field(act.key)}${field(act.sourceId)}${field(act.id)}`;
    case 'replace':
      return `r${field(act.key)}${field(act.sourceId)}${field(act.id)}${field(act.content)}`;
    case 'destroy':
      return `d${field(act.key)}${field(act.sourceId)}${field(act.id)}`;
    case 'duplicate':
      return act.reduce ? `u${field(act.key)}${field(act.of)}${field(act.id)}` : '';
    case 'keep':
    case 'quarantined':
    case 'foreign':
      return '';
    default:
      return act satisfies never;
  }
};

const flushAt = 65_536;

/**
 * The id of a plan: a hash of what its acts change, in plan order: 80 bits of SHA-256, 16 characters of `[a-z2-7]` (Law 3).
 * Reports and explanations are left out, so a plan that changes nothing always has the same id, {@link emptyPlanId}.
 */
export const planId = (acts: readonly Act[]): string => {
  const hash = createHash('sha256');
  let pending = '';
  for (const act of acts) {
    pending += line(act);
    if (pending.length > flushAt) {
      hash.update(pending);
      pending = '';
    }
  }
  return base32(hash.update(pending).digest()).slice(0, 16);
};

/** The id of every plan that changes nothing. */
export const emptyPlanId = planId([]);
