import type { Act, Plan } from '@infrakit/core';
import type { Held } from './outcome.ts';

const because = (act: Extract<Act, { kind: 'destroy' }>): string => {
  const { explained } = act;
  switch (explained?.by) {
    case undefined:
      return 'unexplained';
    case 'departure':
      return `left by ${explained.cause}`;
    case 'commit':
      return `left by the commit of revision ${explained.revision}`;
    case 'empty':
      return explained.reason === 'target' ? 'the source wants none' : 'the source is destroyed';
    default:
      return explained satisfies never;
  }
};

/** One act as a line (EI §1.11); null for those that are no news. */
export const actLine = (act: Act): string | null => {
  switch (act.kind) {
    case 'create':
      return `provision ${act.sourceId} (key ${act.key})`;
    case 'keep':
      return null;
    case 'label':
      return `label ${act.id} (key ${act.key})`;
    case 'replace':
      return `replace ${act.id} (key ${act.key})`;
    case 'destroy':
      return `destroy ${act.id}${act.key === undefined ? '' : ` (key ${act.key})`}: ${because(act)}`;
    case 'duplicate':
      return act.reduce
        ? `destroy ${act.id} (key ${act.key}): a duplicate of ${act.of}`
        : `leave ${act.id} (key ${act.key}), a duplicate of ${act.of}`;
    case 'quarantined':
      return `skip ${act.side === 'source' ? 'source' : 'entry'} ${act.id}: ${act.reason}`;
    case 'foreign':
      return `leave ${act.id}${act.owner === undefined ? '' : ` of ${act.owner}`}: not ours`;
    default:
      return act satisfies never;
  }
};

/** Why something is held, and what lets it through. */
export const heldText = ({ reason, planId }: Held): string => `${reason}; approve plan ${planId} to let it through`;

/** A plan as lines for people, and what of it is held. */
export const planLines = (plan: Plan, held: Held | null): string[] => [
  ...plan.acts.map(actLine).filter((line) => line !== null),
  ...(held === null ? [] : [`held: ${heldText(held)}`]),
];
