import { type Duration, OptionalDuration, PluginName } from '@infrakit/core';
import { z } from 'zod';

/** A field that may be left out, where null means left out, as it did (EI-T8). */
const unset = <T extends z.ZodType>(schema: T) => z.preprocess((value) => value ?? undefined, schema.optional());

const policy = (field: string, known: readonly string[]) => ({
  error: ({ input }: { readonly input?: unknown }): string =>
    `${field} value '${String(input)}' is not supported, valid values: [${known.join(' ')}]`,
});

/** What entries are made in: a plugin, which labels select ours, and the template of their properties (EI §1.3). */
const Sink = z.strictObject({
  Plugin: PluginName,
  Labels: unset(z.record(z.string(), z.string())),
  Properties: z.unknown().optional(),
});

/** The properties of an enrollment spec (EI §1.3). `List` is a union of its own, read by `enrollment-list.ts`. */
export const EnrollmentProperties = z.strictObject({ List: z.unknown().optional(), Instance: Sink });
export type EnrollmentProperties = z.infer<typeof EnrollmentProperties>;

/**
 * How a rule is kept, as a spec, the environment or the start of the plugin give it; what is left out is given by the one
 * before it (EI §1.2, §1.5). The old policies are told in the old words; unnamed is `Quarantine` (Law 5).
 */
export const EnrollmentOptions = z.strictObject({
  SyncInterval: OptionalDuration.refine((ms) => ms === undefined || ms > 0, 'SyncInterval must be greater than 0'),
  SourceKeySelector: unset(z.string()),
  SourceParseErrPolicy: unset(
    z.enum(
      ['Quarantine', 'EnableDestroy', 'DisableDestroy'],
      policy('SourceParseErrPolicy', ['EnableDestroy', 'DisableDestroy']),
    ),
  ),
  EnrollmentKeySelector: unset(z.string()),
  EnrollmentParseErrPolicy: unset(
    z.enum(
      ['Quarantine', 'EnableProvision', 'DisableProvision'],
      policy('EnrollmentParseErrPolicy', ['EnableProvision', 'DisableProvision']),
    ),
  ),
  DestroyOnTerminate: unset(z.boolean()),
  /** Law 6. */
  MaxDestroyPercent: unset(z.number().min(0).max(100)),
  MaxDestroyFloor: unset(z.number().int().min(0)),
  /** Law 9. */
  Order: unset(z.enum(['adds-first', 'removes-first'])),
  /** Law 4. */
  AllowUntaggedDestroy: unset(z.boolean()),
  OnChange: unset(z.enum(['keep'])),
});
export type EnrollmentOptions = z.infer<typeof EnrollmentOptions>;

/** The options with nothing left out. */
export interface OptionsInForce {
  readonly SyncInterval: Duration;
  /** Empty: the key is the `ID`. */
  readonly SourceKeySelector: string;
  readonly SourceParseErrPolicy: NonNullable<EnrollmentOptions['SourceParseErrPolicy']>;
  /** Empty: the key is found by the tag `infrakit.enrollment.sourceID`. */
  readonly EnrollmentKeySelector: string;
  readonly EnrollmentParseErrPolicy: NonNullable<EnrollmentOptions['EnrollmentParseErrPolicy']>;
  readonly DestroyOnTerminate: boolean;
  readonly MaxDestroyPercent: number;
  readonly MaxDestroyFloor: number;
  readonly Order: 'adds-first' | 'removes-first';
  readonly AllowUntaggedDestroy: boolean;
  readonly OnChange: 'keep';
}

const defaults: OptionsInForce = {
  SyncInterval: 5_000,
  SourceKeySelector: '',
  SourceParseErrPolicy: 'Quarantine',
  EnrollmentKeySelector: '',
  EnrollmentParseErrPolicy: 'Quarantine',
  DestroyOnTerminate: false,
  MaxDestroyPercent: 30,
  MaxDestroyFloor: 3,
  Order: 'adds-first',
  AllowUntaggedDestroy: false,
  OnChange: 'keep',
};

const given = <T extends object>(options: T): Partial<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Options laid over the built-in defaults, later ones over earlier ones (EI §1.2). */
export const optionsInForce = (...layers: readonly EnrollmentOptions[]): OptionsInForce =>
  Object.assign({ ...defaults }, ...layers.map(given));
