import { AppError } from '@infrakit/core';

/** How a side that is connected can be of no use: it says nothing, or answers and delivers nothing. */
export type Unwell = 'silent' | 'stuck';

/** `BUS_UNAVAILABLE` of a side that is there and of no use. */
export const unwell = (kind: Unwell, sentence: string): AppError =>
  new AppError('BUS_UNAVAILABLE', sentence, { facts: { unwell: kind } });

/** What was the matter with the side; null for an error of another kind. */
export const unwellOf = ({ facts }: AppError): Unwell | null =>
  facts.unwell === 'silent' || facts.unwell === 'stuck' ? facts.unwell : null;
