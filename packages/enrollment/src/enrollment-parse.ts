import { AppError, type Spec, suggest } from '@infrakit/core';
import { decodePart } from '@infrakit/document';
import { TemplateError } from '@infrakit/template';
import { type EnrollmentList, readList } from './enrollment-list.ts';
import { EnrollmentOptions, EnrollmentProperties, type OptionsInForce, optionsInForce } from './enrollment-schema.ts';
import { compilePayload, type Payload } from './payload.ts';
import { byId, compileSelector, type Selector } from './selector.ts';

/** A field of a map, in whatever case it is written: what can be judged of a part that has other faults. */
const fieldOf = (part: unknown, name: string): unknown => {
  if (typeof part !== 'object' || part === null) return undefined;
  const entries = Object.entries(part);
  const isMeant = (field: string): boolean => field.toLowerCase() === name.toLowerCase();
  return (entries.find(([field]) => field === name) ?? entries.find(([field]) => isMeant(field)))?.[1];
};

/** A part of a spec that can be compiled, or why it cannot. */
const attempt = <T>(faults: string[], field: string, compile: () => T): T | undefined => {
  try {
    return compile();
  } catch (thrown) {
    if (thrown instanceof TemplateError) faults.push(`${field}: ${thrown.reason}`);
    else if (thrown instanceof AppError) faults.push(thrown.message);
    else throw thrown;
    return undefined;
  }
};

/** A spec that was found good, its parts compiled. */
export interface ParsedEnrollment {
  readonly properties: EnrollmentProperties;
  readonly list: EnrollmentList;
  readonly options: OptionsInForce;
  readonly sourceKey: Selector;
  readonly enrollmentKey: Selector | null;
  readonly payload: Payload;
}

const selectorOf = (text: string, field: string, faults: string[]): Selector | null | undefined =>
  text === '' ? null : attempt(faults, field, () => compileSelector(text, field));

/** Whether an unknown field was probably meant to be `List`, which its own fault says already. */
const isListMisspelt = (properties: unknown): boolean =>
  typeof properties === 'object' &&
  properties !== null &&
  fieldOf(properties, 'List') === undefined &&
  Object.keys(properties).some((field) => suggest(field, ['List']) !== undefined);

/** Every fault of a spec at once, as `SPEC_INVALID` (EI-E24); nothing of it is in force then (EI-E22). */
export const parseEnrollment = (
  spec: Spec,
  ids: { readonly owner: string; readonly rule: string },
  start: EnrollmentOptions,
): ParsedEnrollment => {
  const faults: string[] = [];
  const hasProperties = spec.properties !== undefined && spec.properties !== null;
  if (!hasProperties) faults.push('missing properties');
  const properties = hasProperties ? decodePart('properties', spec.properties, EnrollmentProperties) : undefined;
  faults.push(...(properties?.faults ?? []));
  const list =
    hasProperties && !isListMisspelt(spec.properties) ? readList(fieldOf(spec.properties, 'List')) : undefined;
  faults.push(...(list?.faults ?? []));
  const given = decodePart('options', spec.options ?? {}, EnrollmentOptions);
  faults.push(...given.faults);
  const options = optionsInForce(start, given.value ?? {});
  const selector = (field: 'SourceKeySelector' | 'EnrollmentKeySelector') => {
    const text = given.value === undefined ? fieldOf(spec.options, field) : options[field];
    return selectorOf(typeof text === 'string' ? text : '', field, faults);
  };
  const sourceKey = selector('SourceKeySelector');
  const enrollmentKey = selector('EnrollmentKeySelector');
  const instance = properties?.value?.Instance;
  const payload = instance && attempt(faults, 'Instance.Properties', () => compilePayload(instance, ids));
  if (
    faults.length > 0 ||
    properties?.value === undefined ||
    list?.value === undefined ||
    payload === undefined ||
    sourceKey === undefined ||
    enrollmentKey === undefined
  ) {
    throw new AppError('SPEC_INVALID', faults.join('\n'), { facts: { faults } });
  }
  return {
    properties: properties.value,
    list: list.value,
    options,
    sourceKey: sourceKey ?? byId,
    enrollmentKey,
    payload,
  };
};

/** What is legal and yet probably not meant. */
export const warningsOf = ({ list, options }: ParsedEnrollment): string[] => {
  const selectors = {
    SourceKeySelector: options.SourceKeySelector,
    EnrollmentKeySelector: options.EnrollmentKeySelector,
  };
  const constant = Object.entries(selectors)
    .filter(([, text]) => text !== '' && !text.includes('{'))
    .map(([field]) => `${field} has no template action: every entry gets the same key`);
  const isBlind = list.kind === 'group' && options.SourceKeySelector.includes('.Properties');
  return [
    ...constant,
    ...(isBlind ? ['SourceKeySelector reads .Properties, which members of a group do not have'] : []),
  ];
};
