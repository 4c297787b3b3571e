import { fn } from './signature.ts';
import { GO, type GoObject, NIL_TEXT_DICT, textDict } from './value/value.ts';

/** An instance as plugins describe it; other fields are not seen by templates. */
export interface InstanceDescription {
  readonly ID: string;
  readonly LogicalID?: string | null | undefined;
  readonly Tags?: Readonly<Record<string, string>> | null | undefined;
  /** Any JSON value. */
  readonly Properties?: unknown;
}

/** The logical ID: a text, which may be missing and then prints `<nil>`. */
const logicalId = (value: string | null | undefined): GoObject => ({
  [GO]: 'object',
  type: '*string',
  kind: 'ptr',
  isNil: value === null || value === undefined,
  inner: value ?? undefined,
  print: () => value ?? '<nil>',
  json: () => JSON.stringify(value ?? null),
});

/** Raw properties: compact JSON text with its keys in document order, to be decoded by `jsonDecode`. */
const rawProperties = (value: unknown): GoObject => {
  const text = (): string => JSON.stringify(value) ?? '';
  return {
    [GO]: 'object',
    type: '*types.Any',
    kind: 'ptr',
    isNil: value === undefined,
    print: () => (value === undefined ? '<nil>' : text()),
    json: text,
    methods: { String: fn([], () => (value === undefined ? '<nil>' : text())) },
  };
};

const NAMES = ['ID', 'LogicalID', 'Tags', 'Properties'] as const;

const fieldOf = (description: InstanceDescription, name: string): unknown => {
  switch (name) {
    case 'ID':
      return description.ID;
    case 'LogicalID':
      return logicalId(description.LogicalID);
    case 'Tags':
      return description.Tags ? textDict(Object.entries(description.Tags)) : NIL_TEXT_DICT;
    default:
      return rawProperties(description.Properties);
  }
};

/**
 * The data that selectors and property templates see of an instance (EI §1.6): exactly `.ID`, `.LogicalID`, `.Tags` and
 * `.Properties`, which is raw JSON text. Any other field is an error, `index .Tags "name"` of a missing tag is empty text.
 */
export const instanceData = (description: InstanceDescription): unknown =>
  ({
    [GO]: 'object',
    type: 'instance.Description',
    kind: 'struct',
    isNil: false,
    fields: { names: NAMES, get: (name) => fieldOf(description, name) },
  }) satisfies GoObject;
