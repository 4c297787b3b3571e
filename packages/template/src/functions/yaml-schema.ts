import {
  binaryTag,
  defineScalarTag,
  floatYaml11Tag,
  intYaml11Tag,
  NOT_RESOLVED,
  Schema,
  timestampTag,
  YAML11_SCHEMA,
} from 'js-yaml';
import { parseInt0 } from '../text/number.ts';

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;

const SPECIAL: Readonly<Record<string, number>> = {
  '.inf': Infinity,
  '+.inf': Infinity,
  '-.inf': -Infinity,
  '.nan': Number.NaN,
};

/** Whole numbers as go-yaml reads them: `010` is octal, `1:30` is text. */
const intTag = defineScalarTag<number>('tag:yaml.org,2002:int', {
  implicit: true,
  resolve: (text) => {
    const value = parseInt0(text.replaceAll('_', ''));
    return value === undefined ? NOT_RESOLVED : Number(value);
  },
  identify: () => false,
});

const floatTag = defineScalarTag<number>('tag:yaml.org,2002:float', {
  implicit: true,
  resolve: (text) => {
    const plain = text.replaceAll('_', '');
    const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
    return Number.isFinite(value) ? value : (SPECIAL[plain.toLowerCase()] ?? NOT_RESOLVED);
  },
  identify: () => false,
});

const REPLACED: ReadonlySet<unknown> = new Set([timestampTag, binaryTag, intYaml11Tag, floatYaml11Tag]);

/** YAML 1.1 as go-yaml reads it into untyped values: dates stay text. */
export const GO_YAML_SCHEMA = new Schema([...YAML11_SCHEMA.tags.filter((tag) => !REPLACED.has(tag)), intTag, floatTag]);
