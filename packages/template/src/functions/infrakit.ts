import { failCall } from '../errors.ts';
import { escapeBraces, unescapeBraces } from '../escape.ts';
import type { Run, Variables } from '../run.ts';
import { type FunctionTable, fn, variadic } from '../signature.ts';
import { deepEqual } from '../value/compare.ts';
import { printValue, sprintln } from '../value/print.ts';
import { emptyStruct, hasType, int, isList, typedList, voidValue } from '../value/value.ts';
import { decodeIni } from './ini.ts';
import { query } from './jmespath.ts';
import { decodeJson } from './json-decode.ts';
import { encodeJsonIndent } from './json-encode.ts';
import { decodeYaml, encodeYaml } from './yaml.ts';

/** The text of a text or of raw properties; InfraKit decodes nothing else. */
const encodedText = (value: unknown): string => {
  if (typeof value === 'string') {
    return value;
  }
  return hasType(value, '*types.Any') ? (value.shape.json?.(value) ?? '') : failCall('not-supported-value-type');
};

const setVariable = (variables: Variables, name: string, value: unknown): void => {
  for (let here: Variables | undefined = variables; here !== undefined; here = here.parent) {
    here.values.set(name, value);
  }
};

const getVariable = (run: Run, name: string): unknown => {
  const value = run.variables.values.get(name);
  if (value !== undefined && value !== null) {
    return value;
  }
  if (run.program.isMultiPass) {
    return `{{ var \`${name}\` }}`;
  }
  return run.program.missingKey === 'error' && !run.variables.values.has(name)
    ? failCall(`Missing variable ${name}`)
    : null;
};

const indexOf = variadic(['any', 'any'], 'bool', (run, wanted, list, isStrict = false) => {
  if (list === null) {
    return failCall('runtime error: invalid memory address or nil pointer dereference (a list is wanted, not nil)');
  }
  if (!isList(list)) {
    return int(-1);
  }
  const shown = printValue(wanted, run.budget);
  const isSame = (item: unknown): boolean => {
    if (deepEqual(wanted, item, run.budget)) {
      return true;
    }
    if (!isStrict && wanted === null) {
      return failCall('nil has no text to compare by');
    }
    return !isStrict && printValue(item, run.budget) === shown;
  };
  return int(list.findIndex(isSame));
});

/** InfraKit's own functions (EI §1.6). */
export const INFRAKIT_FUNCTIONS: FunctionTable = {
  jsonDecode: fn(['any'], (_run, value) => decodeJson(encodedText(value))),
  jsonEncode: fn(['any'], (run, value) => encodeJsonIndent(value, run.budget, '', '  ')),
  jsonEncodeIndent: fn(['string', 'string', 'any'], (run, prefix, indent, value) =>
    encodeJsonIndent(value, run.budget, prefix, indent),
  ),
  yamlDecode: fn(['any'], (run, value) => decodeYaml(encodedText(value), run.budget)),
  yamlEncode: fn(['any'], (run, value) => encodeYaml(value, run.budget)),
  iniDecode: fn(['string'], (run, text) => {
    run.budget.step(text.length);
    return decodeIni(text);
  }),
  q: fn(['string', 'any'], (run, expression, value) => query(expression, value, run.budget)),
  lines: fn(['any'], (run, value) => {
    if (typeof value !== 'string') {
      return failCall('not-supported-value-type');
    }
    const lines = value.split('\n');
    run.budget.step(lines.length);
    return typedList('string', lines);
  }),
  indexOf,
  index_of: indexOf,
  loop: fn(['int'], (run, count) => {
    if (count < 0) {
      return failCall('runtime error: makeslice: len out of range');
    }
    run.budget.step(count);
    return typedList('struct {}', Array.from({ length: count }, emptyStruct));
  }),
  var: variadic(['string'], 'any', (run, name, ...values) => {
    if (values.length === 0) {
      return getVariable(run, name);
    }
    setVariable(run.variables, name, values.at(-1));
    return voidValue();
  }),
  escape: fn(['string'], (_run, text) => escapeBraces(text)),
  unescape: fn(['string'], (_run, text) => unescapeBraces(text)),
  echo: variadic([], 'any', (run, ...values) => {
    run.host.echo?.(sprintln(values, run.budget).slice(0, -1));
    return '';
  }),
};
