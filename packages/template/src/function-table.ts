import { BUILTINS } from './functions/builtins.ts';
import { DATE_FUNCTIONS } from './functions/dates.ts';
import { DEFAULT_FUNCTIONS } from './functions/defaults.ts';
import { DICT_FUNCTIONS } from './functions/dicts.ts';
import { ENCODING_FUNCTIONS } from './functions/encoding.ts';
import { ENVIRONMENT_FUNCTIONS } from './functions/environment.ts';
import { INCLUDE_FUNCTIONS } from './functions/include.ts';
import { INFRAKIT_FUNCTIONS } from './functions/infrakit.ts';
import { JSON_FUNCTIONS } from './functions/json.ts';
import { KEY_FUNCTIONS } from './functions/keys.ts';
import { LIST_FUNCTIONS } from './functions/lists.ts';
import { MATH_FUNCTIONS } from './functions/math.ts';
import { PATH_FUNCTIONS } from './functions/paths.ts';
import { RANDOM_FUNCTIONS } from './functions/random.ts';
import { REGEX_FUNCTIONS } from './functions/regex.ts';
import { SEMVER_FUNCTIONS } from './functions/semver.ts';
import { STRING_FUNCTIONS } from './functions/strings.ts';
import type { FunctionTable } from './signature.ts';

/** All functions of the language by name. */
export const FUNCTIONS: FunctionTable = {
  ...BUILTINS,
  ...STRING_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...DICT_FUNCTIONS,
  ...MATH_FUNCTIONS,
  ...DEFAULT_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...PATH_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...SEMVER_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...RANDOM_FUNCTIONS,
  ...KEY_FUNCTIONS,
  ...ENVIRONMENT_FUNCTIONS,
  ...INFRAKIT_FUNCTIONS,
  ...INCLUDE_FUNCTIONS,
};

const VARYING = 'its result changes from one evaluation to the next';
const OUTSIDE = 'it reads what lies outside of the data';

/**
 * Functions that a key selector may not call, and why: a key that changes by itself makes a controller destroy and create
 * everything again (EI §1.6 [WANT], EI-E17).
 */
export const NOT_DETERMINISTIC: ReadonlyMap<string, string> = new Map([
  ...['now', 'unixtime', 'uuidv4', 'genPrivateKey', 'shuffle'].map((name) => [name, VARYING] as const),
  ...['randAlphaNum', 'randAlpha', 'randAscii', 'randNumeric', 'randBytes', 'randInt'].map(
    (name) => [name, VARYING] as const,
  ),
  ...['env', 'expandenv', 'fetch', 'include', 'source', 'raw'].map((name) => [name, OUTSIDE] as const),
]);
