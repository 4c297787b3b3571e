import { AppError, parseDuration } from '@infrakit/core';
import { systemClock } from '@infrakit/runtime';
import type { PluginDefinition } from '@infrakit/spi';
import { startEnrollment } from './enrollment-plugin.ts';
import { EnrollmentOptions } from './enrollment-schema.ts';

const positive = (text: string): string => {
  if (parseDuration(text) > 0) return text;
  throw new AppError('ARGUMENT_INVALID', 'SyncInterval must be greater than 0');
};

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
]);

const truth = (text: string): boolean => {
  const value = truths.get(text);
  if (value !== undefined) return value;
  throw new AppError(
    'ARGUMENT_INVALID',
    `expected one of ${[...truths.keys()].join(' ')}, found ${JSON.stringify(text)}`,
  );
};

/**
 * The plugin `enrollment`. Options it is started with go before those of the environment and behind those of a spec; a value
 * of the environment that cannot be used is told and left out (EI §1.2, EI-E23).
 */
export const enrollmentDefinition: PluginDefinition<typeof EnrollmentOptions> = {
  kind: 'enrollment',
  summary: 'keeps what is downstream of it equal to a list or to the members of a group',
  isSingle: true,
  options: EnrollmentOptions,
  environment: {
    INFRAKIT_ENROLLMENT_SYNC_INTERVAL: (text) => ({ SyncInterval: positive(text) }),
    INFRAKIT_ENROLLMENT_DESTROY_ON_TERMINATE: (text) => ({ DestroyOnTerminate: truth(text) }),
  },
  start: (deps) => startEnrollment(deps, systemClock),
};
