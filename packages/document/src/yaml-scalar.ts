import {
  boolYaml11Tag,
  floatYaml11Tag,
  intYaml11Tag,
  NOT_RESOLVED,
  nullYaml11Tag,
  type ScalarTagDefinition,
} from 'js-yaml';

type Scalar = string | number | boolean | null;

/** The YAML 1.1 scalars that are JSON values: a date stays the text it is, `!!binary` and other objects are refused. */
const implicitTags: readonly ScalarTagDefinition[] = [nullYaml11Tag, boolYaml11Tag, intYaml11Tag, floatYaml11Tag];

const byFirstCharacter = new Map<string, ScalarTagDefinition[]>();
for (const tag of implicitTags) {
  for (const character of tag.implicitFirstChars ?? []) {
    byFirstCharacter.set(character, [...(byFirstCharacter.get(character) ?? []), tag]);
  }
}

const resolve = (tags: readonly ScalarTagDefinition[], text: string, isExplicit: boolean): Scalar | undefined => {
  for (const tag of tags) {
    const value = tag.resolve(text, isExplicit, tag.tagName);
    if (value !== NOT_RESOLVED) return value as Scalar;
  }
  return undefined;
};

/** What an unquoted YAML 1.1 scalar means: `yes` is true, `~` null, `0x1f` 31, `1_000` 1000, anything else its text. */
export const resolvePlain = (text: string): Scalar => {
  const value = resolve(byFirstCharacter.get(text.charAt(0)) ?? [], text, false);
  return value === undefined ? text : value;
};

const explicitTags = new Map<string, readonly ScalarTagDefinition[]>([
  ['null', [nullYaml11Tag]],
  ['bool', [boolYaml11Tag]],
  ['int', [intYaml11Tag]],
  ['float', [floatYaml11Tag, intYaml11Tag]],
]);

/** The name of a core tag as written (`!!int`, `!<tag:yaml.org,2002:int>`; `!` is a string), else undefined. */
export const coreTagName = (written: string): string | undefined =>
  written === '!' ? 'str' : /^(?:!!|!<tag:yaml\.org,2002:)([a-z]+)>?$/.exec(written)?.[1];

/** What a scalar with an explicit tag means, or why it cannot be. */
export const resolveTagged = (written: string, text: string): { value: Scalar } | { reason: string } => {
  const name = coreTagName(written);
  if (name === 'str') return { value: text };
  const tags = explicitTags.get(name ?? '');
  if (tags === undefined) return { reason: `the tag \`${written}\` is not a JSON value: remove it` };
  const value = resolve(tags, text, true);
  return value === undefined
    ? { reason: `\`${text}\` is not what its tag \`${written}\` says: remove the tag` }
    : { value };
};
