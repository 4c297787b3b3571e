import type { SpokenTerms } from '../link/link.ts';
import { limitNotes } from './broker-limits.ts';
import type { Flow } from './flow.ts';

const nameOf = (version: 4 | 5): string => (version === 4 ? '3.1.1' : '5');

/** What is spoken for a flow, and what of it the sink does not allow. */
export const spokenStatus = (
  { qos, retain }: Flow,
  spoken: SpokenTerms | null,
): { readonly mqtt: string; readonly notes: readonly string[] } => {
  if (spoken === null) return { mqtt: '', notes: [] };
  const { source, sink, limits } = spoken;
  const mqtt = source === sink ? nameOf(source) : `${nameOf(source)} → ${nameOf(sink)}`;
  return { mqtt, notes: limitNotes({ qos, retains: retain !== 'never' }, limits) };
};
