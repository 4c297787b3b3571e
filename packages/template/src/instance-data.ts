import { method } from './signature.ts';
import { type GoObject, makeObject, NIL_TEXT_DICT, type Shape, textDict } from './value/value.ts';

/** An instance as plugins describe it; other fields are not seen by templates. */
export interface InstanceDescription {
  readonly ID: string;
  readonly LogicalID?: string | null | undefined;
  readonly Tags?: Readonly<Record<string, string>> | null | undefined;
  /** Any JSON value. */
  readonly Properties?: unknown;
  readonly Address?: string | undefined;
}

/** The logical ID: a text, which may be missing and then prints `<nil>`. */
const LOGICAL_ID: Shape = {
  type: '*string',
  kind: 'ptr',
  print: (self) => (self.isNil ? '<nil>' : String(self.inner)),
  json: (self) => JSON.stringify(self.inner),
};

const rawText = (self: GoObject): string => (self.isNil ? '' : JSON.stringify(self.inner));

const shownText = (self: GoObject): string => (self.isNil ? '<nil>' : rawText(self));

/** Raw properties: compact JSON text with its keys in document order, to be decoded by `jsonDecode`. */
const RAW_PROPERTIES: Shape = {
  type: '*types.Any',
  kind: 'ptr',
  print: shownText,
  json: rawText,
  methods: { String: method([], (_run, self) => shownText(self)) },
};

const fieldOf = (description: InstanceDescription, name: string): unknown => {
  switch (name) {
    case 'ID':
      return description.ID;
    case 'LogicalID':
      return makeObject(LOGICAL_ID, description.LogicalID, (description.LogicalID ?? null) === null);
    case 'Tags':
      return description.Tags ? textDict(Object.entries(description.Tags)) : NIL_TEXT_DICT;
    case 'Address':
      return description.Address ?? '';
    default:
      return makeObject(RAW_PROPERTIES, description.Properties, description.Properties === undefined);
  }
};

const DESCRIPTION: Shape = {
  type: 'instance.Description',
  kind: 'struct',
  fields: ['ID', 'LogicalID', 'Tags', 'Properties'],
  field: (self, name) => fieldOf(self.inner as InstanceDescription, name),
};

const ADDRESSED: Shape = { ...DESCRIPTION, fields: [...(DESCRIPTION.fields ?? []), 'Address'] };

/**
 * The data that selectors and property templates see of an instance (EI §1.6): exactly `.ID`, `.LogicalID`, `.Tags` and
 * `.Properties`, which is raw JSON text; and `.Address`, which the old system did not have, of an instance that has one. Any
 * other field is an error, `index .Tags "name"` of a missing tag is empty text.
 */
export const instanceData = (description: InstanceDescription): unknown =>
  makeObject(description.Address === undefined ? DESCRIPTION : ADDRESSED, description);
