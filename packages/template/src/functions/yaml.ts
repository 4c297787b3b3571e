import { DEFAULT_SCALAR_STYLE_RULES, dump, loadAll, SCALAR_STYLE, type ScalarStyleRule } from 'js-yaml';
import { type Budget, checkDepth } from '../budget.ts';
import { failCall } from '../errors.ts';
import { settle } from '../text/bytes.ts';
import { printFloat } from '../text/float.ts';
import { type Dict, isList, newDict, setKey } from '../value/value.ts';
import { decodeJson } from './json-decode.ts';
import { encodeJson } from './json-encode.ts';
import { compareKeys } from './yaml-keys.ts';
import { GO_YAML_SCHEMA } from './yaml-schema.ts';

const keyText = (key: unknown): string => {
  switch (typeof key) {
    case 'string':
      return key;
    case 'number':
      return Number.isInteger(key) ? String(key) : printFloat(key);
    case 'boolean':
      return String(key);
    default:
      return failCall('error converting YAML to JSON: a map key must be a text, a number or a boolean');
  }
};

/** What the parser gives, as JSON would have it. Parts that are referred to twice are copied, within the budget. */
const fromYaml = (value: unknown, budget: Budget, depth: number): unknown => {
  budget.step();
  checkDepth(depth);
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return failCall('error converting YAML to JSON: infinity and not-a-number have no JSON form');
  }
  if (typeof value !== 'object' || value === null) {
    return value ?? null;
  }
  if (isList(value)) {
    return value.map((item) => fromYaml(item, budget, depth + 1));
  }
  const out: Dict = newDict();
  for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
    setKey(out, keyText(key), fromYaml(item, budget, depth + 1));
  }
  return out;
};

const sentence = (error: unknown): string =>
  error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);

/** The value of the first document of a YAML text, by way of JSON: numbers are floats, keys are texts. */
export const decodeYaml = (text: string, budget: Budget): unknown => {
  budget.step(text.length);
  let documents: unknown[];
  try {
    documents = loadAll(settle(text), { schema: GO_YAML_SCHEMA, json: true });
  } catch (error) {
    return failCall(`error converting YAML to JSON: ${sentence(error)}`);
  }
  return fromYaml(documents[0], budget, 0);
};

/** Texts that would read as something else stand in double quotes, as go-yaml writes them. */
const doubleQuoteAmbiguous: ScalarStyleRule = (layout) => {
  const { value } = layout.node;
  if (layout.style !== SCALAR_STYLE.SINGLE_QUOTED || value.includes('\n')) {
    return;
  }
  if (
    value === '' ||
    /^(?:[-+.]?[0-9][-+.0-9a-fA-F_xXoObBeE:]*|~|\.inf|\.nan|[-+]\.inf|null|y|n|yes|no|on|off|true|false)$/i.test(value)
  ) {
    layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
  }
};

const STYLE_RULES = [...Object.values(DEFAULT_SCALAR_STYLE_RULES), doubleQuoteAmbiguous];

/** A value as a YAML text, by way of JSON, with sorted keys. */
export const encodeYaml = (value: unknown, budget: Budget): string => {
  const plain = decodeJson(encodeJson(value, budget));
  const text = dump(plain, {
    sortKeys: compareKeys,
    noRefs: true,
    seqNoIndent: true,
    lineWidth: -1,
    scalarStyleRules: STYLE_RULES,
  });
  budget.characters(text.length);
  return text;
};
