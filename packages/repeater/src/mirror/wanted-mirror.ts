import type { InstanceDescription } from '@infrakit/core';
import type { RuleItem } from '../repeater-schema.ts';

/** A rule that is wanted: its mirror, its place among the others, and what tells whether the mirror that is there is the same. */
export interface WantedMirror extends RuleItem {
  readonly rank: number;
  readonly content: string;
}

/** What is observed of a mirror. */
export type MirrorEntry = Pick<InstanceDescription, 'ID' | 'Tags'>;

/** The tag with the digest of what a mirror was made of. */
export const contentTag = 'infrakit.repeater.content';
