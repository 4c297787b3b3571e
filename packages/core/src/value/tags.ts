import { z } from 'zod';
import { AppError } from '../errors.ts';

/** Tags (labels) of a spec or an instance. */
export const Tags = z.record(z.string(), z.string());
export type Tags = Readonly<Record<string, string>>;

/** The tag names that the system itself writes and reads; interface, letter for letter (GP §0.5, DESIGN §4). */
export const reservedTags = {
  group: 'infrakit.group',
  configHash: 'infrakit.config.hash',
  logicalId: 'infrakit.logical_id',
  slot: 'infrakit.slot',
  clusterId: 'infrakit.cluster.id',
  enrollmentOwner: 'infrakit.enrollment.owner',
  enrollmentName: 'infrakit.enrollment.name',
  enrollmentSourceId: 'infrakit.enrollment.sourceID',
  link: 'infrakit_link',
  linkContext: 'infrakit_link_context',
  linkCreated: 'infrakit_link_created',
  simulator: 'simulator',
} as const;

/** The value of the config hash tag that means "adopt me" (GP §0.5). */
export const bootstrapHash = 'bootstrap';

/** Whether every queried key is present with an equal value; no query matches everything (GP-S3). */
export const matchesTags = (tags: Tags | null | undefined, query: Tags | null | undefined): boolean =>
  Object.entries(query ?? {}).every(
    ([key, value]) => tags !== null && tags !== undefined && Object.hasOwn(tags, key) && tags[key] === value,
  );

/** One `key=value`, split at the first `=`, so that values may hold more of them. Errors: `TAG_INVALID`. */
export const parseTag = (text: string): [key: string, value: string] => {
  const equals = text.indexOf('=');
  if (equals < 1) {
    throw new AppError('TAG_INVALID', `a tag is written key=value, not ${JSON.stringify(text)}`, { facts: { text } });
  }
  return [text.slice(0, equals), text.slice(equals + 1)];
};

/** Tags from `key=value` arguments; of one key given twice, the last counts; always a new object (EI-T2). */
export const parseTags = (texts: Iterable<string>): Tags => Object.fromEntries([...texts].map(parseTag));
